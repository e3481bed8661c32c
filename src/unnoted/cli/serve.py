"""`unnoted serve`: a trained model as a web service."""

import os
from pathlib import Path
from typing import Annotated

import typer

from unnoted.cli.options import (
    Backend,
    Batch,
    Device,
    Entities,
    Model,
    Threads,
    TypePair,
    handle_errors,
    load_extractor,
    load_reader,
    log,
    print_text,
    set_threads,
)
from unnoted.io import MEBI
from unnoted.utils import plural, require_extra

TOKEN = "UNNOTED_TOKEN"
"""The variable that a token is taken from; an argument would show in the list of processes."""

Host = Annotated[
    str, typer.Option("--host", help="The address to listen at; by default only this machine can reach it.")
]
Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen at.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help=f"A file with the token that clients must show; by default the variable {TOKEN}, if it is set.",
    ),
]
Queue = Annotated[
    int, typer.Option("--queue", help="Documents that may wait at a time; beyond it, clients get 429.")
]
Body = Annotated[
    float,
    typer.Option(
        "--body",
        metavar="MIB",
        min=0.001,
        max=4096,
        help="Mebibytes of a request; beyond it, clients get 413.",
    ),
]
Words = Annotated[int, typer.Option("--words", help="Words of a document; beyond it, clients get 422.")]
Seconds = Annotated[
    float, typer.Option("--seconds", help="Seconds until a request is answered; beyond it, clients get 504.")
]


@handle_errors
def serve(
    model: Model,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    entities: Entities = None,
    type: TypePair = None,
    token_file: TokenFile = None,
    queue: Queue = 1024,
    body: Body = 8,
    words: Words = 20_000,
    seconds: Seconds = 60,
    batch: Batch = None,
    threads: Threads = None,
    device: Device = None,
    backend: Backend = None,
) -> None:
    """Serve a trained model: documents in, facts out, and a page to try it on.

    POST /extract takes a document or a list, POST /extract/stream JSON lines; with --entities, POST
    /extract/text takes plain text. GET /docs describes everything. On SIGTERM it finishes what it has accepted.
    """
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require_extra(module, "serve")
    from unnoted.serve import ExtractionService, ServiceLimits
    from unnoted.serve import serve as listen
    from unnoted.serve.app import is_loopback

    if entities is None and type:
        raise ValueError("--type needs --entities")
    limits = ServiceLimits(
        queue=queue, body=int(body * MEBI), words=words, seconds=seconds, drain=max(seconds, 5)
    )
    token = _token(token_file)
    extractor = load_extractor(model, batch, device, backend)
    set_threads(extractor, threads)
    reader = None if entities is None else load_reader(extractor, entities, type)
    service = ExtractionService(extractor, Path(model).name, reader, limits)
    if token is None and not is_loopback(host):
        log(f"note: whoever can reach {host} may use the model; {TOKEN} or --token-file asks for a token")
    shown = f"[{host}]" if ":" in host else host
    print_text(f"{service.name}: http://{shown}:{port} (Ctrl-C stops it)")
    print_text(f"facts have a {extractor.decision()}")
    listen(service, host, port, token)
    print_text(f"stopped: {plural(service.accepted, 'request')} accepted, {service.answered:,} answered")


def _token(file: Path | None) -> str | None:
    """The token that clients must show."""
    if file is None:
        return os.environ.get(TOKEN) or None
    token = file.read_text("utf-8").strip()
    if not token or len(token.split()) > 1:
        raise ValueError(f"{file} must hold one token, without spaces")
    return token
