"""A client of the Ferry protocol in Python's standard library, written from Documentation/Wire.md.

It keeps everything in memory, takes one command a line (a JSON array) on its standard input and
answers each with one line of JSON. `WireClientTests.swift` drives it against a real server.
"""
import hashlib
import http.client
import json
import random
import secrets
import sys
import time
import zlib

KINDS = ["", "hello", "welcome", "pull", "rows", "checkpoint", "confirm", "replay", "stored",
         "stir", "beat", "failure", "report"]
END = 9223372036854775807
LONGEST_SILENCE = 40
decoder = json.JSONDecoder()


class Broken(Exception):
    """The line broke: repeat."""


class Refused(Exception):
    """The server said no: `word` has its code, message and hint."""

    def __init__(self, word):
        super().__init__(word)
        self.word = word


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def frame(kind, content, compress_from=512):
    """One frame; `content` is the text of one JSON value."""
    data, flags = content.encode(), 0
    if len(data) >= compress_from and len(zlib.compress(data)) < len(data):
        data, flags = zlib.compress(data), 1
    return len(data).to_bytes(4, "big") + bytes([KINDS.index(kind), flags]) + data


def elements(text, at):
    """The texts of an array's elements, without a blank between them, and where the array ends."""
    found, at = [], at + 1
    while text[at] != "]":
        end = decoder.raw_decode(text, at)[1]
        found.append(text[at:end])
        at = end + (text[end] == ",")
    return found, at + 1


class Frames:
    """Cuts bytes, however they arrive, into (kind, text)."""

    def __init__(self):
        self.rest = b""

    def take(self, data):
        self.rest += data
        while len(self.rest) >= 6:
            length, kind, flags = int.from_bytes(self.rest[:4], "big"), self.rest[4], self.rest[5]
            if length > 16777216 or not 0 < kind < len(KINDS) or flags > 1:
                raise Broken("no frame")
            if len(self.rest) < 6 + length:
                return
            content, self.rest = self.rest[6:6 + length], self.rest[6 + length:]
            if flags:
                expander = zlib.decompressobj()
                content = expander.decompress(content, 67108864)
                if not expander.eof:
                    raise Broken("a frame expands without end")
            yield KINDS[kind], content.decode()


class Client:
    def __init__(self, host, port, model):
        self.host, self.port, self.model = host, int(port), model
        self.entities = {entity["name"]: entity for entity in model["entities"]}
        self.device, self.incarnation = secrets.token_hex(16), secrets.token_hex(16)
        self.server = self.era = None
        self.groups = {name: {"version": 0, "at": 0} for name in model.get("groups", ["default"])}
        self.partitions = {}  # number: group, applied, staged, begins, pages
        self.dropped = set()
        self.rows = {}  # (entity, key): (partition, text)
        self.operations = {}  # id: text, chain, state (waiting, sent, stored), held
        self.answers, self.confirms, self.may_have_run = {}, [], []
        self.tokens = self.channel = None
        self.fit, self.checkpoints = True, set()
        self.counts = {"renewed": 0, "opened": 0, "sums": 0}

    # HTTP.

    def post(self, path, body, token=None):
        try:
            line = http.client.HTTPConnection(self.host, self.port, timeout=LONGEST_SILENCE)
            headers = {"Content-Type": "application/x-ferry"}
            if token:
                headers["Authorization"] = "Bearer " + token
            line.request("POST", "/ferry/1/" + path, body, headers)
            return line, line.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise Broken(str(error)) from error

    def ask_tokens(self, path, question):
        line, answer = self.post(path, compact(question).encode())
        word = json.loads(answer.read())
        line.close()
        if answer.status != 200:
            raise Refused({"status": answer.status, **word})
        self.tokens = word

    def open(self, path, body):
        """The answer to frames, whose bytes begin to come; renews the token once."""
        for again in (True, False):
            line, answer = self.post(path, body, self.tokens["accessToken"])
            if answer.status == 200:
                return line, answer
            word = answer.read()
            line.close()
            if answer.status != 401 or not again:
                if answer.status in (408, 429) or answer.status >= 500:
                    raise Broken(answer.status)
                raise Refused({"status": answer.status, **json.loads(word)})
            self.ask_tokens("token", {"refreshToken": self.tokens["refreshToken"],
                                      "device": self.device})
            self.counts["renewed"] += 1
        raise Broken("no token")

    # What the device says.

    def place(self):
        return {
            "groups": [{"name": name, "era": self.era,
                        "version": max(group["version"], group["at"])}
                       for name, group in self.groups.items()],
            "partitions": [[number] + ([0, 0] if known["begins"] else known["applied"])
                           for number, known in self.partitions.items()],
            "staged": [[number] + known["staged"] for number, known in self.partitions.items()]}

    def body(self, pulls, replays):
        place = self.place()
        sent = [key for key, known in self.operations.items() if known["state"] != "waiting"]
        hello = {"protocol": 1, "server": self.server,
                 "package": "%s:%s" % (self.model["name"], self.model["version"]),
                 "device": self.device, "incarnation": self.incarnation, "groups": place["groups"],
                 "partitions": place["partitions"], "open": sent[:1000]}
        frames = frame("hello", compact(hello))
        for confirm in self.confirms:
            frames += frame("confirm", compact(confirm))
        ready = [known for known in self.operations.values()
                 if known["state"] != "stored" and not known["held"]][:1000]
        if replays and ready:
            for known in ready:
                known["state"] = "sent"
            frames += frame("replay", '{"operations":[%s],"mayHaveRun":%s}' % (
                ",".join(known["text"] for known in ready), compact(self.may_have_run)))
        for name, group in self.groups.items() if pulls else []:
            staged = [cursor for cursor in place["staged"]
                      if self.partitions[cursor[0]]["group"] == name]
            frames += frame("pull", compact({"group": name, "staged": staged, "at": max(
                group["version"], group["at"])}))
        return frames, place

    def exchange(self, pulls=True, replays=True, limit=None):
        """One request and its answer; with `limit` the line is cut after so many bytes."""
        body, place = self.body(pulls, replays)
        told = len(self.confirms)
        line, answer = self.open("exchange", body)
        frames, seen, came = Frames(), set(), 0
        try:
            while limit is None or came < limit:
                data = answer.read1(65536 if limit is None else limit - came)
                came += len(data)
                for kind, text in frames.take(data):
                    seen.add(kind)
                    self.take(kind, text, place, told)
                if not data:
                    break
        except (OSError, http.client.HTTPException) as error:
            raise Broken(str(error)) from error
        finally:
            line.close()
        if limit is not None or frames.rest or "welcome" not in seen:
            raise Broken("the answer was cut")

    # What the server says.

    def take(self, kind, text, place, told):
        word = json.loads(text)
        if kind == "welcome":
            self.welcome(word, place, told)
        elif kind == "rows":
            self.page(word, text)
        elif kind == "checkpoint":
            self.checkpoint(word)
        elif kind == "stored":
            for key in word["ids"]:
                if key in self.operations:
                    self.operations[key]["state"] = "stored"
            for answer in word["refused"]:
                self.answer(answer)
        elif kind == "failure":
            if word["code"] in ("internal", "tooManyOperations", "badMessage"):
                raise Broken(word["code"])
            raise Refused(word)

    def welcome(self, word, place, told):
        self.fit = word["era"] == self.era or place == self.place()
        if not self.fit:
            return
        del self.confirms[:told]
        if word["era"] != self.era:
            for group in self.groups.values():
                group["at"] = 0
        self.era, self.server = word["era"], word["server"]
        for new in word["start"]:
            number = new["partition"]
            self.dropped.discard(number)
            if number not in self.partitions:
                self.partitions[number] = {"group": new["group"], "applied": [0, 0],
                                           "staged": [0, 0], "begins": True, "pages": []}
        for number in word["reset"]:
            self.begin(number)
        for number in word["drop"]:
            self.partitions.pop(number, None)
            self.dropped.add(number)
        self.may_have_run = []
        for key, state in word["operations"].items():
            known = self.operations.get(key)
            if known and state == "neverSeen":
                if known["state"] == "stored":
                    self.may_have_run.append(key)
                known["state"] = "sent"
            elif known:
                known["state"] = "stored"

    def begin(self, number):
        self.partitions[number].update(staged=[0, 0], begins=True, pages=[])

    def page(self, word, text):
        known = self.partitions.get(word["partition"])
        if not self.fit or known is None or known["staged"] != word["from"]:
            return
        known["pages"].append(text)
        known["staged"] = word["to"]
        group = self.groups[known["group"]]
        group["at"] = max(group["at"], word["at"])

    def checkpoint(self, word):
        named = {part["partition"]: part for part in word["partitions"]}
        ours = {number for number, known in self.partitions.items()
                if known["group"] == word["group"]}
        fits = self.fit and word["era"] == self.era and ours == set(named) and all(
            self.partitions[number]["staged"] == part["cursor"] for number, part in named.items())
        if word["unavailable"] or not fits:
            if self.channel and not word["unavailable"]:
                raise Broken("a checkpoint does not fit")
            return
        before = dict(self.rows)
        for key, (partition, _) in list(self.rows.items()):
            if partition in self.dropped:
                del self.rows[key]
        self.dropped = set()
        begun = {number for number in ours if self.partitions[number]["begins"]}
        seen = set()
        for number in sorted(ours):
            for text in self.partitions[number]["pages"]:
                seen |= self.rows_of(number, text)
        for key, (partition, _) in list(self.rows.items()):
            if partition in begun and key not in seen:
                del self.rows[key]
        wrong = [number for number, part in named.items() if self.sum(number) != (
            int(part["sum"]), part["count"])]
        if wrong:
            self.rows = before
            for number in wrong:
                self.begin(number)
            raise Broken("the sums of %s differ" % wrong)
        self.counts["sums"] += len(named)
        for number in ours:
            self.partitions[number].update(applied=[word["version"], END], begins=False, pages=[],
                                           staged=[word["version"], END])
        self.groups[word["group"]] = {"version": word["version"], "at": word["version"]}
        for answer in word["answers"]:
            self.answer(answer)
        if word["answers"]:
            self.confirms.append({"group": word["group"], "version": word["version"],
                                  "answers": [answer["id"] for answer in word["answers"]]})
        self.checkpoints.add(word["group"])

    def rows_of(self, number, text):
        """Lays a page on the rows; gives the objects that it names."""
        named = set()
        for part in elements(text, text.index('"sets":[') + 7)[0]:
            word = json.loads(part)
            entity = self.entities[word["entity"]]
            names = [attribute["name"] for attribute in entity["attributes"]]
            if word["columns"] != names:
                raise Refused({"code": "model", "message": "other columns than the model's"})
            places = [names.index(name) for name in entity["key"]]
            rows = elements(part, len('{"entity":,"columns":,"rows":' + compact(word["entity"]))
                            + len(compact(word["columns"])))[0]
            for row in rows:
                values = elements(row, 0)[0]
                key = (entity["name"], ",".join(values[place] for place in places))
                self.rows[key] = (number, row)
                named.add(key)
            for left in word["left"]:
                key = (entity["name"], compact(left)[1:-1])
                if self.rows.get(key, (None, ""))[0] == number:
                    del self.rows[key]
        return named

    def sum(self, number):
        total = count = 0
        for (entity, key), (partition, text) in self.rows.items():
            if partition == number:
                data = entity.encode() + b"\0" + key.encode() + b"\0" + text.encode()
                total += int.from_bytes(hashlib.sha256(data).digest()[:8], "big")
                count += 1
        return total % 2 ** 64, count

    def answer(self, word):
        if self.operations.pop(word["id"], None):
            self.answers[word["id"]] = word

    # Changes.

    def transaction(self, changes, held):
        """Fixes the bytes of one chain; the last `held` of its operations are not sent yet."""
        ids = [secrets.token_hex(16) for _ in changes]
        stand_ins, texts = {}, []
        for change, key in zip(changes, ids):
            if "as" in change:
                stand_ins["$" + change["as"]] = random.randrange(-2 ** 63, -2 ** 62)
        for place, (change, own) in enumerate(zip(changes, ids)):
            entity = self.entities[change["entity"]]
            values = {name: stand_ins.get(value, value) if isinstance(value, str) else value
                      for name, value in change.get("values", {}).items()}
            old, key = {}, None
            if change["operation"] == "create":
                if "as" in change:
                    values[entity["key"][0]] = stand_ins["$" + change["as"]]
                elif all(name in values for name in entity["key"]):
                    key = [values[name] for name in entity["key"]]
                key = compact(key if key else {"temporary": own})
            else:
                key = "[%s]" % change["key"]
                row = elements(self.rows[entity["name"], change["key"]][1], 0)[0]
                for attribute, value in zip(entity["attributes"], row):
                    if change["operation"] == "delete" or attribute["name"] in values:
                        old[attribute["name"]] = value
            order = [attribute["name"] for attribute in entity["attributes"]]
            changed = {name: values[name] for name in order if name in values}
            texts.append('{"id":"%s","chain":"%s","position":%d,"count":%d,"entity":%s,'
                         '"operation":"%s","key":%s,"changed":%s,"base":{%s}}' % (
                             own, ids[0], place, len(ids), compact(entity["name"]),
                             change["operation"], key, compact(changed), ",".join(
                                 compact(name) + ":" + value for name, value in old.items())))
        for place, (own, text) in enumerate(zip(ids, texts)):
            self.operations[own] = {"text": text, "state": "waiting",
                                    "held": place >= len(ids) - held}
        return ids

    # Staying in touch.

    def pauses(self):
        pause = 0.2
        while True:
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(30, pause * 2)
            yield

    def repeat(self, work, is_done=lambda: True):
        pauses = self.pauses()
        while True:
            try:
                work()
                if is_done():
                    return
            except Broken:
                self.close_channel()
            next(pauses)

    def synchronize(self):
        self.checkpoints = set()
        self.repeat(self.exchange, lambda: self.checkpoints == set(self.groups))

    def open_channel(self):
        body, place = self.body(pulls=True, replays=False)
        told = len(self.confirms)
        line, answer = self.open("channel", body)
        self.channel = (line, answer, Frames(), place, told)
        self.counts["opened"] += 1

    def close_channel(self):
        if self.channel:
            self.channel[0].close()
            self.channel = None

    def listen(self):
        """Takes what the channel brings next; opens it where there is none."""
        if self.channel is None:
            self.open_channel()
        _, answer, frames, place, told = self.channel
        try:
            data = answer.read1(65536)
        except (OSError, http.client.HTTPException) as error:
            raise Broken(str(error)) from error
        for kind, text in frames.take(data):
            self.take(kind, text, place, told)
        if not data:
            raise Broken("the channel ended")

    # Commands.

    def login(self, user, password):
        self.ask_tokens("login", {"user": user, "password": password, "device": self.device})

    def spoil(self):
        self.tokens["accessToken"] = "spoiled"

    def cut(self, limit):
        try:
            self.exchange(limit=limit)
        except Broken:
            pass

    def release(self):
        for known in self.operations.values():
            known["held"] = False

    def send(self):
        self.repeat(lambda: self.exchange(pulls=self.channel is None))

    def answered(self, ids):
        """Waits for the answers: on the channel where it is open, else by exchanges."""
        work = self.listen if self.channel else self.exchange
        if not all(key in self.answers for key in ids):
            self.repeat(work, lambda: all(key in self.answers for key in ids))
        return [self.answers[key] for key in ids]

    def until(self, entity, key, value):
        """Listens until a row has the value among its own, or, with null, is not there."""
        def holds():
            row = self.rows.get((entity, key), (0, ""))[1]
            return not row if value is None else row and compact(value) in elements(row, 0)[0]
        if not holds():
            self.listen_until(holds)

    def listen_until(self, holds):
        pauses = self.pauses()
        while not holds():
            try:
                self.listen()
            except Broken:
                self.close_channel()
                next(pauses)

    def stay(self):
        self.checkpoints = set()
        self.listen_until(lambda: self.checkpoints == set(self.groups))

    def states(self):
        return {key: known["state"] for key, known in self.operations.items()}

    def dump(self):
        dump = {name: {} for name in self.entities}
        for (entity, key), (_, text) in self.rows.items():
            dump[entity][key] = text
        return dump


def main():
    host, port, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        client = Client(host, port, json.load(file))
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = {"ok": True, "result": getattr(client, name)(*arguments),
                      "counts": client.counts}
        except Refused as error:
            answer = {"ok": False, "refused": error.word}
        print(compact(answer), flush=True)


main()
