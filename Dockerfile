# The service in a container:
#
#   docker build --tag cosift .
#   docker run --publish 127.0.0.1:8080:8080 --volume cosift:/data cosift
#
# Builds the packages from this checkout and installs them as npm would.

FROM node:24-bookworm AS build
# Debian's compiler comes with the image; its Rust is too old.
ARG RUST=1.95.0
ENV PATH=/root/.cargo/bin:$PATH
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs \
  | sh -s -- -y --no-modify-path --profile minimal --default-toolchain "$RUST"
WORKDIR /cosift
COPY package.json package-lock.json .npmrc ./
COPY models/all-MiniLM-L6-v2/package.json models/all-MiniLM-L6-v2/
COPY packages packages
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run pack -- --output /packages
WORKDIR /app
# The multilingual model would add 85 MB; `npm install` adds it to an image made from this one.
RUN rm -f /packages/cosift-model-multilingual-e5-*.tgz \
  && npm install --no-audit --no-fund /packages/*.tgz

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
  COSIFT_HOST=0.0.0.0 \
  COSIFT_PORT=8080 \
  COSIFT_DATA=/data \
  PATH=/app/node_modules/.bin:$PATH
COPY --from=build /app /app
RUN install --directory --owner=node --group=node /data
# A number, so that Kubernetes can tell that it is not root. It is the user "node" of the image.
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Until the databases are loaded, the service is not healthy; failures in the start period do not count.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.COSIFT_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not through npx: signals reach the server directly.
ENTRYPOINT ["cosift"]
CMD ["serve"]
