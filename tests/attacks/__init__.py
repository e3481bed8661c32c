"""Attacks on everything that is read from a disk, and on two programs or threads that do the same at once.

`python -m tests.attacks` (`make fuzz`) feeds damaged and hostile files to the readers; the other modules of this
folder kill trainings and predictions, start two writers on one file, and share an extractor among threads.
"""
