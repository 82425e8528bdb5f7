#!/usr/bin/env python3
"""Reads and writes OData payloads with pyslet and pyodata, for the tests that compare us with them.

  odata-peer.py read-atom   stdin: an Atom feed or entry   stdout: JSON, one object per entry
  odata-peer.py write-atom  stdin: JSON, name -> [type, text]   stdout: an Atom entry
  odata-peer.py read-json   stdin: JSON, {"metadata": text, "type": name, "entry": object}
  odata-peer.py metadata    stdin: V2 metadata   stdout: JSON, entity types with their properties
  odata-peer.py read-batch  stdin: a MIME message, multipart/mixed   stdout: JSON, its HTTP messages
  odata-peer.py write-batch stdin: JSON, [[group or null, id or null, HTTP message], ...]
"""
import json
import sys

INSTALL = "python3 -m pip install pyslet==0.7.20170805 pyodata==1.12.1"


def text_of(value):
    from pyslet.odata2 import csdl as edm
    from pyslet.py2 import to_text

    if isinstance(value, edm.Complex):
        return {name: text_of(part) for name, part in value.iteritems()}
    return to_text(value) if value else None


def read_atom(source):
    from pyslet.odata2 import core

    document = core.Document()
    document.read(src=source)
    root = document.root
    entries = root.Entry if isinstance(root, core.Feed) else [root]
    return [{name: text_of(entry[name]) for name in entry._properties} for entry in entries]


def write_atom(values):
    from pyslet.odata2 import core
    from pyslet.odata2 import csdl as edm

    document = core.Document(root=core.Entry)
    for name, (kind, text) in values.items():
        declared = edm.Property(None)
        declared.name = name
        declared.simpleTypeCode = edm.SimpleType.from_str("Edm." + kind)
        value = edm.EDMValue.from_property(declared)
        if text is not None:
            value.set_from_literal(text)
        document.root[name] = value
        document.root._properties[name].set_attribute(
            (core.ODATA_METADATA_NAMESPACE, "type"), "Edm." + kind)
    return str(document)


def read_json(request):
    from pyodata.v2.model import MetadataBuilder

    schema = MetadataBuilder(request["metadata"].encode()).build()
    kind = schema.entity_type(request["type"])
    return {
        p.name: str(p.from_json(request["entry"][p.name]))
        for p in kind.proprties()
        if request["entry"].get(p.name) is not None and not isinstance(request["entry"][p.name], dict)
    }


def metadata(source):
    from pyodata.v2.model import MetadataBuilder

    schema = MetadataBuilder(source.encode()).build()
    return {t.name: sorted(p.name for p in t.proprties()) for t in schema.entity_types}


def read_batch(source):
    from email import message_from_bytes, policy

    def leaves(message, group=None):
        for part in message.get_payload():
            if part.get_content_type() == "multipart/mixed":
                yield from leaves(part, part.get_boundary())
            else:
                text = part.get_payload(decode=True).decode()
                yield [group, part.get("Content-ID"), part.get_content_type(), text]

    return list(leaves(message_from_bytes(source.encode(), policy=policy.HTTP)))


def write_batch(parts):
    from email import policy
    from email.encoders import encode_noop
    from email.mime.application import MIMEApplication
    from email.mime.multipart import MIMEMultipart

    batch = MIMEMultipart("mixed", boundary="=_batch 1")
    changesets = {}
    for group, identifier, text in parts:
        part = MIMEApplication(text, "http", encode_noop)
        part["Content-Transfer-Encoding"] = "binary"
        if identifier is not None:
            part["Content-ID"] = identifier
        if group is None:
            batch.attach(part)
            continue
        if group not in changesets:
            changesets[group] = MIMEMultipart("mixed", boundary=group)
            batch.attach(changesets[group])
        changesets[group].attach(part)
    return batch.as_bytes(policy=policy.HTTP).decode()


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    # Python's own parser of mail reads and writes MIME; nothing needs to be installed for it.
    if verb == "read-batch":
        print(json.dumps(read_batch(sys.stdin.buffer.read().decode())))
        return 0
    if verb == "write-batch":
        sys.stdout.buffer.write(write_batch(json.loads(sys.stdin.read())).encode())
        return 0
    try:
        import pyodata
        import pyslet
    except ImportError as missing:
        print(f"{missing}; install them with: {INSTALL}", file=sys.stderr)
        return 3
    source = sys.stdin.read()
    if verb == "read-atom":
        print(json.dumps(read_atom(source)))
    elif verb == "write-atom":
        print(write_atom(json.loads(source)))
    elif verb == "read-json":
        print(json.dumps(read_json(json.loads(source))))
    elif verb == "metadata":
        print(json.dumps(metadata(source)))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
