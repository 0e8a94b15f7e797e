from .protocol import *
