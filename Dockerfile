# poterne in a container: docker build -t poterne . && docker run -p 127.0.0.1:8080:8080 -v poterne:/data \
#   -v ./config.toml:/etc/poterne/config.toml:ro poterne
# The health check is `poterne health`; give it 15 s to stop (it drains for up to 10): docker run --stop-timeout 15.

FROM debian:12-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates nodejs npm \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
COPY scripts/bun.sh scripts/bun.sh
# Bun in the version of package.json, then what bun.lock says: apart from the sources, so that both stay cached.
RUN bash -euo pipefail -c '. scripts/bun.sh && ensure_bun'
COPY . .
RUN bash -euo pipefail -c '. scripts/bun.sh && ensure_bun && bun run build'

FROM debian:12-slim
RUN groupadd --gid 10001 poterne \
 && useradd --uid 10001 --gid poterne --home-dir /data --no-create-home --shell /usr/sbin/nologin poterne \
 && install -d -o poterne -g poterne -m 700 /data
COPY --from=build /build/dist/poterne /usr/local/bin/poterne
COPY LICENSE /usr/share/doc/poterne/LICENSE
# A container has its own loopback: listen where the outside can reach it.
ENV POTERNE_SERVER_HOST=0.0.0.0 \
    POTERNE_STORAGE_DATA_DIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s --retries=3 CMD ["/usr/local/bin/poterne", "health"]
ENTRYPOINT ["/usr/local/bin/poterne"]
CMD ["serve"]
