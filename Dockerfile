# poterne in a container: docker build -t poterne . && docker run -p 127.0.0.1:8080:8080 -v poterne:/data \
#   -v ./config.toml:/etc/poterne/config.toml:ro poterne
# The health check is `poterne health`; give it 15 s to stop (it drains for up to 10): docker run --stop-timeout 15.

# A point release, raised with each release of poterne. A digest would be stricter, but only a registry knows it, and it
# is not known here: whoever needs images that are the same bit by bit builds with --build-arg BASE=debian@sha256:…
ARG BASE=debian:12.11-slim

FROM ${BASE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates nodejs npm \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
COPY scripts/bun.sh scripts/bun.sh
# Bun in the version of package.json, then what bun.lock says: apart from the sources, so that both stay cached.
RUN bash -euo pipefail -c '. scripts/bun.sh && ensure_bun'
COPY . .
# What `poterne version` names; the image is built without the history: --build-arg COMMIT=$(git rev-parse --short=7 HEAD)
ARG COMMIT
RUN bash -euo pipefail -c '. scripts/bun.sh && ensure_bun && bun run build'

FROM ${BASE}
RUN groupadd --gid 10001 poterne \
 && useradd --uid 10001 --gid poterne --home-dir /data --no-create-home --shell /usr/sbin/nologin poterne \
 && install -d -o poterne -g poterne -m 700 /data \
 && touch /etc/poterne-image
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
