import FerryArguments

/// The options of ferryd, and what its help says of them.
extension Settings {
  static let options =
    [
      CommandOption(
        "dev", "FILE",
        "serve this SQLite database for development; ferryd makes the model, a user and the folder"),
      CommandOption(
        "model", "FILE",
        "the model, made by `ferry new`; may be repeated for more packages or versions. Models that "
          + "`ferry deploy` added are served too"),
      CommandOption(
        "data", "FOLDER", "the folder for the server's data; created if it does not exist"),
      CommandOption(
        "store", "ADDRESS",
        "postgres:DATABASE keeps the server's store in PostgreSQL, which several servers may share "
          + "(default: a file in the data folder)"),
      CommandOption("port", "N", "the port (default 8080; 0 lets the system choose)"),
      CommandOption(
        "database", "ADDRESS",
        "the business database of all models, sqlite:FILE, postgres:DATABASE, mariadb:DATABASE or "
          + "odata:ADDRESS (default: each model's source)"),
      CommandOption(
        "connections-file", "FILE",
        "named connections to databases and services, with credentials and limits, for models that name "
          + "them; the file must belong to its owner alone (chmod 600)"),
      CommandOption(
        "users", "FILE", "users, roles and claims (default: users.json in the data folder)"),
      CommandOption(
        "security", "FILE",
        "named security configurations: which of user file, certificates, LDAP and HTTP let users in; "
          + "the file must belong to its owner alone (chmod 600)"),
      CommandOption(
        "templates", "FILE",
        "connection templates with the application settings of devices (default: templates.json in the "
          + "data folder); read again when it changes"),
      CommandOption(
        "issuer", "URL",
        "accept tokens of this OpenID issuer; write its URL as in its tokens; may be repeated. "
          + "Users of the user file can still log in"),
      CommandOption(
        "audience", "NAME",
        "with --issuer: the audience that a token must name (default ferry); may be repeated"),
      CommandOption(
        "mapping", "FILE",
        "with --issuer: a file that maps claims and groups of the issuer to claims and roles of the "
          + "model; may be repeated. Without it the token must have them under the model's names"),
      CommandOption(
        "issuer-ca", "FILE",
        "with --issuer: certificates (PEM) to trust for issuers instead of the system's"),
      CommandOption(
        "login-authority", "FILE",
        "authorities (PEM) whose certificates let users in: a device sends a login certificate in place "
          + "of the password, and its common name is the user's name in the user file"),
      CommandOption(
        "address", "ADDRESS", "the address of this machine to listen on (default 127.0.0.1)"),
      CommandOption(
        "connections", "N",
        "maximum number of connections (default 2048); an eighth is reserved for logins and exchanges"
      ),
      CommandOption(
        "connections-per-address", "N",
        "maximum number of connections of one address, and of requests of one client (default: a "
          + "quarter of --connections); a trusted proxy's own connections do not count"),
      CommandOption(
        "proxy", "ADDRESS,…",
        "proxies whose X-Forwarded-For header is trusted (default: none)"),
      CommandOption(
        "proxy-protocol", nil,
        "with --proxy: the proxies begin each connection with the PROXY protocol (version 1 or 2), "
          + "which names the client's address; X-Forwarded-For is then not trusted"),
      CommandOption(
        "big-value-limit", "MB", "maximum size of a big value (default 256)"),
      CommandOption(
        "rights-hours", "N",
        "with --issuer: the maximum age of a user's newest token in hours (default 24); with an "
          + "older one, requests and operations of the user wait for a newer token"),
      CommandOption(
        "lease-days", "N",
        "days for which a device may use its data without the server; after that the data is closed "
          + "until the device connects (default: no limit)"),
      CommandOption(
        "inactive-days", "N",
        "days without a request after which the server removes a device from the register (default "
          + "180)"
      ),
      CommandOption(
        "otlp", "URL",
        "send spans of traced requests, and metrics, to this OpenTelemetry collector over OTLP/HTTP, "
          + "such as http://127.0.0.1:4318 (default: none)"),
      CommandOption(
        "otlp-interval", "SECONDS", "how often metrics are sent to the collector (default 60)"),
      CommandOption(
        "comparison-hour", "N",
        "the hour (UTC) at which all rows are compared with the business database each night, slice by "
          + "slice, where triggers note changes (default 2; never: not at all)"),
      CommandOption(
        "replay-connections", "N",
        "on how many connections to a business database of PostgreSQL operations of different users are "
          + "performed side by side (default 4)"),
      CommandOption(
        "readers", "N",
        "threads that read rows for devices with much to download, each with a connection of its own "
          + "to the store (default: the number of processors, at most 4; 0: none)"),
      CommandOption(
        "odata", nil,
        "offer each package as an OData service too, at /odata/PACKAGE/v4/; users log in with each "
          + "request by name and password (Basic)"),
      CommandOption(
        "notices", "FILE",
        "programs that may say what they changed in the business system, by POST /notices/PACKAGE; the "
          + "file must belong to its owner alone (chmod 600)"),
      CommandOption("log", "LEVEL", "debug, info, warn or error (default info)"),
      CommandOption(
        "forget-operations", nil,
        "do not keep the table ferry_applied (of PostgreSQL ferry.applied) in the business database; "
          + "after a crash the outcome of an operation may then be unknown"),
      CommandOption(
        "gateway", "FILE",
        "be the one door to the services of this file, with the users of the user file, beside the "
          + "models or without any; the file must belong to its owner alone (chmod 600)"),
      CommandOption(
        "applications", "FILE",
        "let the devices of these applications register over HTTP, and let services push to them; "
          + "with --gateway the services of an application ask for a connection"),
      CommandOption(
        "certificate", "FILE",
        "the certificate (PEM) for TLS 1.2 and 1.3, and those of its issuers behind it; SIGHUP reads it "
          + "again"),
      CommandOption("key", "FILE", "with --certificate: its key (PEM)"),
      CommandOption(
        "configuration", "FILE",
        "read options from this file, one on each line, as NAME = VALUE; the command line goes before it"
      ),
      CommandOption(
        "check", nil, "read all settings and files, say what is wrong, and end without serving"),
      CommandOption("version", nil, "show the version of ferryd"),
      CommandOption("help", nil, "show this text"),
    ] + ConsoleProgram.options

  /// Those that a configuration file may set.
  static var configurable: [CommandOption] {
    options.filter { !["configuration", "check", "dev", "version", "help"].contains($0.name) }
  }

  static var help: String {
    let spelled = options.map { "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
    let width = spelled.map(\.count).max() ?? 0
    let lines = zip(options, spelled).map { option, spelled in
      "  \(spelled)\(String(repeating: " ", count: width - spelled.count))  \(option.text)"
    }
    return """
      usage: ferryd --model <model.json> [--model <model.json> …] --data <folder> [options]
             ferryd --dev <business.db> [--port N] [--data <folder>]
             ferryd --gateway <gateway.json> [--certificate <pem> --key <pem>] [options]
             ferryd --configuration <file> [options]
      Serves the devices of one or more packages: takes their operations, replays them against the
      business databases and gives back everything that changed.

      \(lines.joined(separator: "\n"))

      GET /health shows whether the server is ready. With the header "Authorization: Bearer KEY", where
      KEY is the content of operator.key in the data folder, it also shows what is wrong. The file
      audit.jsonl there records logins and refusals. For public TLS use a proxy: Samples/nginx has a
      configuration; name the proxy with --proxy. SIGHUP reads certificates and the gateway's
      services again and begins a new access log. SIGTERM and SIGINT end ferryd in good order, a
      second one ends it at once. A service manager learns over NOTIFY_SOCKET that the server is
      ready, as of systemd with Type=notify.
      Exit codes: 0 stopped on request; 1 it could not start, and printed the reason; 2 wrong usage.
      """
  }
}
