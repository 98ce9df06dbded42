ARG GO_VERSION=1.26
ARG NODE_VERSION=24
ARG UV_VERSION=0.9

# No syntax line and no RUN --mount: both need BuildKit, which not every runner
# has.
FROM golang:${GO_VERSION}-trixie AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=""
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/org/mcpeval-guidance/internal/cli.release=${VERSION}" -o /mcpeval .

FROM ghcr.io/astral-sh/uv:${UV_VERSION} AS uv

# What MCP servers are started with: Node with npm and npx, uv and uvx with a
# Python, git, certificates. git trusts a workspace of any owner: servers and
# their builds ask it for versions.
FROM node:${NODE_VERSION}-trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git python3 \
    && git config --system --add safe.directory '*' \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log /var/cache/ldconfig
COPY --from=uv /uv /uvx /usr/local/bin/
COPY --from=build /mcpeval /usr/local/bin/mcpeval

# MCPEVAL_IMAGE makes advice specific to this image. uv links across the
# runner's volumes would fail, so it copies.
ENV MCPEVAL_IMAGE=1 \
    UV_LINK_MODE=copy \
    NPM_CONFIG_UPDATE_NOTIFIER=false

LABEL org.opencontainers.image.title="mcpeval-guidance" \
      org.opencontainers.image.description="Checks the instruction coherence of MCP servers" \
      org.opencontainers.image.source="https://github.com/org/mcpeval-guidance" \
      org.opencontainers.image.licenses="MIT"

# No USER: GitHub mounts its command files for root. The server under test is
# started as the workspace's owner. No WORKDIR: the runner sets it to the
# workspace.
# https://docs.github.com/en/actions/reference/workflows-and-actions/dockerfile-support
ENTRYPOINT ["/usr/local/bin/mcpeval", "action"]
