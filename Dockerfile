# The dashboard and the HTTP API on a world in the volume /data. See compose.yaml for the servers that it can use.
FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
# installed as root, but nothing runs as root; the image includes the embedding model, so a container needs no network
RUN useradd --create-home --uid 10001 memory && mkdir /data /model && chown memory:memory /data /model
COPY --from=build /wheels /wheels
RUN set -- /wheels/*.whl && pip install --no-cache-dir "uv>=0.5,<1" \
    && uv pip install --no-cache --compile-bytecode --python "$(command -v python)" "$1[all]" \
    && pip uninstall --yes uv && rm -r /wheels
ENV MEMORY_HOME=/data MEMORY_CACHE_DIR=/model PYTHONUNBUFFERED=1 CI=true
USER memory
WORKDIR /data
RUN memory-system fetch-model
VOLUME /data
EXPOSE 8501 5000
# listens on all of the container's addresses, which requires MEMORY_PASSWORD and MEMORY_TOKEN
ENV MEMORY_HOST=0.0.0.0
HEALTHCHECK --interval=30s --timeout=5s --start-period=300s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen as ask; ask('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["memory-system", "run", "--no-browser"]
