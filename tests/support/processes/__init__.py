"""Programs in processes of their own, and how they end."""
