"""A command `vllm` that pretends, for the lab that starts a server and loads it: it answers at most CAPACITY a second.

What it does is said by the variable FAKE_SERVER: nothing special, "no start", "dies" under load, "hang" in the client,
"none answered", "client fails", or "slow".
"""

from __future__ import annotations

from pathlib import Path

CAPACITY = 5.0
MAIN = """
import json, os, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

what = os.environ.get("FAKE_SERVER", "")
given = dict(zip(sys.argv, sys.argv[1:]))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if self.path == "/metrics":
            self.wfile.write(b'vllm:num_requests_running{engine="0",model_name="m"} 3.0\\n'
                             b'vllm:num_requests_waiting{engine="0",model_name="m"} 7.0\\n')
        if what == "dies" and self.path == "/metrics":
            print("ERROR 11-30 12:00:00 [core.py:1] EngineCore encountered a fatal error.", flush=True)
            os._exit(9)

    def log_message(self, *_):
        pass


def main():
    if sys.argv[1] == "serve":
        if what == "no start":
            print("ValueError: No available memory for the cache blocks.", flush=True)
            sys.exit(1)
        with open(os.environ["FAKE_STARTS"], "a") as file:
            print(os.getpid(), *sys.argv[2:], file=file)
        print("(EngineCore pid=7) INFO 11-30 12:00:00 [kv.py:1] GPU KV cache size: 18,688 tokens", flush=True)
        HTTPServer(("127.0.0.1", int(given["--port"])), Handler).serve_forever()
    else:
        print("Starting main benchmark run...", flush=True)
        if what in ("dies", "hang"):
            with open(os.environ["FAKE_STARTS"], "a") as file:
                print(os.getpid(), "client", file=file)
            time.sleep(60)
        if what == "client fails":
            sys.exit("ValueError: Initial test run failed")
        time.sleep(0.4 if what == "slow" else 0)  # slow: the server is asked what it holds
        sent, prompts = float(given["--request-rate"]), int(given["--num-prompts"])
        answered = min(sent * 0.99, CAPACITY)
        seconds = prompts / answered
        good = answered if sent <= CAPACITY else 0.5
        found = {f"{kind}_{name}_ms": 100.0 * sent for name in ("ttft", "tpot", "e2el")
                 for kind in ("mean", "median", "p90", "p99")}
        found |= {"completed": 0 if what == "none answered" else prompts, "failed": 0, "duration": seconds,
                  "request_throughput": answered, "request_goodput": good,
                  "output_throughput": answered * int(given["--random-output-len"]),
                  "total_input_tokens": prompts * int(given["--random-input-len"]),
                  "total_output_tokens": prompts * int(given["--random-output-len"])}
        with open(given["--result-dir"] + "/" + given["--result-filename"], "w") as file:
            json.dump(found, file)
"""


def install(folder: Path) -> dict[str, str]:
    """Write the package; returns the environment that finds it, and where starts are noted."""
    main = folder / "vllm/entrypoints/cli/main.py"
    main.parent.mkdir(parents=True)
    main.write_text(MAIN.replace("CAPACITY", str(CAPACITY)))
    starts = folder / "starts"
    starts.touch()
    return {"PYTHONPATH": str(folder), "FAKE_STARTS": str(starts)}
