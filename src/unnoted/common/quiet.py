"""Keeping what transformers says about itself out of our users' terminals."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Let transformers draw no bars of its own and warn of nothing, while what matters is checked by us.

    Downloads keep their bars: they take long.
    """
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils import logging as transformers_log

    verbosity, drawn = transformers_log.get_verbosity(), transformers_log.is_progress_bar_enabled()
    downloads_drawn = not are_progress_bars_disabled()
    transformers_log.set_verbosity(logging.ERROR)
    transformers_log.disable_progress_bar()  # type: ignore[no-untyped-call]
    if downloads_drawn:
        enable_progress_bars()
    try:
        yield
    finally:
        transformers_log.set_verbosity(verbosity)
        if drawn:
            transformers_log.enable_progress_bar()  # type: ignore[no-untyped-call]
