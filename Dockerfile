# A service on the CPU: docker build -t unnoted-serve . && docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/runs/own:/model:ro" unnoted-serve
FROM python:3.11-slim

# torch comes from its index of CPU builds; for GPUs: docker build --build-arg PIP_EXTRA_INDEX_URL="" .
ARG PIP_EXTRA_INDEX_URL="https://download.pytorch.org/whl/cpu"

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    TOKENIZERS_PARALLELISM=true

WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install -c constraints.txt '.[serve,spacy]' \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin unnoted

USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]

ENTRYPOINT ["unnoted", "serve", "/model", "--host", "0.0.0.0", "--port", "8000"]
