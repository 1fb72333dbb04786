"""A loopback proxy that adds a bearer token: the conformance suite has no way to send one.

It works on the bytes: one header goes into each request, everything else (the `Host` above all) passes unchanged, and
answers stream as they come. Each request gets a connection of its own. It can also change requests, to turn the tools of
the suite into operations, or to spoil what is under test.
"""

import socket
import threading

HEAD_LIMIT_BYTES = 64 * 1024


class TokenProxy:
    """Listens on a free port of 127.0.0.1 until it is closed.

    `change` gets the headers of a request by their names in lower case, and its body, and changes the headers in place and
    returns the new body.
    """

    def __init__(self, port: int, token: str, change=None) -> None:
        self._target = ("127.0.0.1", port)
        self._change = change
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
            if self._change:
                lines, rest = self._changed(client, lines, rest)
            lines += [f"Authorization: Bearer {self._token}".encode(), b"Connection: close"]
            with socket.create_connection(self._target) as server:
                server.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + rest)
                threading.Thread(target=_pump, args=(client, server), daemon=True).start()
                _pump(server, client)
        except OSError:
            pass
        finally:
            client.close()

    def _changed(self, client: socket.socket, lines: list, body: bytes) -> tuple:
        """Reads the whole body, and returns the changed lines and the changed body."""
        first, *rest = lines
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.decode("latin-1").partition(":") for line in rest)}
        while len(body) < int(headers.get("content-length", 0)):
            chunk = client.recv(65536)
            if not chunk:
                raise ConnectionError("the client left")
            body += chunk
        body = self._change(headers, body)
        if "content-length" in headers:
            headers["content-length"] = str(len(body))
        return [first, *(f"{name}: {value}".encode("latin-1") for name, value in headers.items())], body

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
