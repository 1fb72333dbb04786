"""A loopback proxy that adds a bearer token: the conformance suite has no way to send one.

It works on the bytes: one header goes into each request, everything else (the `Host` above all) passes unchanged, and
answers stream as they come. Each request gets a connection of its own.
"""

import socket
import threading

HEAD_LIMIT_BYTES = 64 * 1024


class TokenProxy:
    """Listens on a free port of 127.0.0.1 until it is closed."""

    def __init__(self, port: int, token: str) -> None:
        self._target = ("127.0.0.1", port)
        self._token = token
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            received = b""
            while b"\r\n\r\n" not in received and len(received) < HEAD_LIMIT_BYTES:
                chunk = client.recv(65536)
                if not chunk:
                    return
                received += chunk
            head, _, rest = received.partition(b"\r\n\r\n")
            lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
            lines += [f"Authorization: Bearer {self._token}".encode(), b"Connection: close"]
            with socket.create_connection(self._target) as server:
                server.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + rest)
                threading.Thread(target=_pump, args=(client, server), daemon=True).start()
                _pump(server, client)
        except OSError:
            pass
        finally:
            client.close()

    def close(self) -> None:
        """Stops listening."""
        self._listener.close()

    def __enter__(self) -> "TokenProxy":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Copies until the source ends, and then says so to the sink: a client that leaves is seen to leave."""
    try:
        while chunk := source.recv(65536):
            sink.sendall(chunk)
    except OSError:
        pass
    finally:
        for end in (sink, source):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
