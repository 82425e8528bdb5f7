"""A collector of OTLP/HTTP: prints its port, then the path and body of each request.

The line "refuse" on standard input makes it answer 503 until the line "take" comes.
"""
import http.server
import sys
import threading

refuses = False


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 503 if refuses else 200
        print(status, self.path, self.headers["Content-Type"], body.decode(), flush=True)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
for line in sys.stdin:
    refuses = line.strip() == "refuse"
    print("ok", flush=True)
