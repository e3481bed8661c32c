"""What pairs that never meet add to the best F1 on labels, in plain loops."""


def best_f1(facts, noted):
    """The best F1 of stating all facts from some margin on; a fact is (margin, labelled)."""
    lines = sorted({margin for margin, _ in facts})
    return max((f1([fact for fact in facts if fact[0] >= line], noted) for line in lines), default=0.0)


def f1(stated, noted):
    return 2 * sum(labelled for _, labelled in stated) / (len(stated) + noted)


def gain(pairs):
    """Best F1 of all pairs minus that of those that meet; a pair is (meets, its facts)."""
    everything = [fact for _, facts in pairs for fact in facts]
    noted = sum(labelled for _, labelled in everything)
    near = [fact for meets, facts in pairs if meets for fact in facts]
    return best_f1(everything, noted) - best_f1(near, noted)
