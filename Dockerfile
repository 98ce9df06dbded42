# syntax=docker/dockerfile:1
ARG GO_VERSION=1.26
ARG NODE_VERSION=24
ARG UV_VERSION=0.9

FROM golang:${GO_VERSION}-trixie AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG VERSION=""
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/org/mcpeval-guidance/internal/cli.release=${VERSION}" -o /mcpeval .

FROM ghcr.io/astral-sh/uv:${UV_VERSION} AS uv

# What MCP servers are started with: Node with npm and npx, uv and uvx with a
# Python, git, certificates.
FROM node:${NODE_VERSION}-trixie-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git python3 \
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

# No USER: GitHub mounts the workspace and its command files for root. No
# WORKDIR: the runner sets it to the workspace.
# https://docs.github.com/en/actions/reference/workflows-and-actions/dockerfile-support
ENTRYPOINT ["/usr/local/bin/mcpeval", "action"]
