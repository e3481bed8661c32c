"""Relation extraction over whole documents, learnt from incomplete labels."""
