# Written by `python unasync.py` from ../_async. Do not edit.
