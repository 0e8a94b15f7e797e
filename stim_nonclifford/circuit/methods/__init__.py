"""The methods of ``Circuit`` by subject, each subject a class that ``Circuit`` inherits from."""
