import FerryArguments

/// `ferry completion`: a script that lets a shell complete ferry's commands and options.
enum CompletionCommand: Subcommand {
  static let name = "completion"
  static let summary = "print a script that completes ferry's commands and options in your shell"
  static let operands = "<bash|zsh|fish>"
  static let options: [CommandOption] = []
  static let discussion = """
    bash: ferry completion bash > ~/.local/share/bash-completion/completions/ferry
    zsh:  ferry completion zsh > ~/.zfunc/_ferry      (a folder of $fpath)
    fish: ferry completion fish > ~/.config/fish/completions/ferry.fish

    Exit codes: 0 it was printed; 2 wrong usage.
    """

  static func run(_ arguments: Arguments) async throws -> ExitCode {
    let shell = try arguments.operands("shell")[0]
    switch shell {
    case "bash": Terminal.show(bash)
    case "zsh": Terminal.show(zsh)
    case "fish": Terminal.show(fish)
    default:
      throw UsageError(
        "there is no script for the shell \(shell)", hint: "Write bash, zsh or fish.")
    }
    return .success
  }

  private static var names: String { CommandTable.commands.map { $0.name }.joined(separator: " ") }

  private static func words(_ command: any Subcommand.Type) -> String {
    (command.options.map { "--\($0.name)" } + ["--help"]).joined(separator: " ")
  }

  static var bash: String {
    let cases = CommandTable.commands.map { "    \($0.name)) words=\"\(words($0))\" ;;" }
    return """
      _ferry() {
        local word="${COMP_WORDS[COMP_CWORD]}" words=""
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\(names) help --version" -- "$word"))
          return
        fi
        if [[ "$word" != -* ]]; then
          if [ "${COMP_WORDS[1]}" = help ]; then
            COMPREPLY=($(compgen -W "\(names)" -- "$word"))
          else
            COMPREPLY=($(compgen -f -- "$word"))
          fi
          return
        fi
        case "${COMP_WORDS[1]}" in
      \(cases.joined(separator: "\n"))
        esac
        COMPREPLY=($(compgen -W "$words" -- "$word"))
      }
      complete -o filenames -F _ferry ferry
      """
  }

  static var zsh: String {
    let commands = CommandTable.commands.map { "    '\($0.name):\(quoted($0.summary))'" }
    let cases = CommandTable.commands.map { command in
      let options = command.options.map { option in
        "'*--\(option.name)[\(bracketed(option.text))]\(option.value.map { ":\($0):_files" } ?? "")'"
      }
      return
        "    \(command.name)) _arguments \((options + ["'*:file:_files'"]).joined(separator: " ")) ;;"
    }
    return """
      #compdef ferry
      _ferry() {
        local -a commands
        commands=(
      \(commands.joined(separator: "\n"))
        )
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        local name="$words[2]"
        shift words
        (( CURRENT-- ))
        case "$name" in
      \(cases.joined(separator: "\n"))
        esac
      }
      _ferry "$@"
      """
  }

  static var fish: String {
    let first = CommandTable.commands.map {
      "complete -c ferry -n __fish_use_subcommand -f -a \($0.name) -d '\(quoted($0.summary))'"
    }
    let options = CommandTable.commands.flatMap { command in
      command.options.map { option in
        "complete -c ferry -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
          + "\(option.value == nil ? "" : " -r") -d '\(quoted(option.text))'"
      }
    }
    return (first + options).joined(separator: "\n")
  }

  /// Inside single quotes of the three shells.
  private static func quoted(_ text: String) -> String {
    let harmful = Array("\\'".utf8)
    let bytes = text.utf8.filter { !harmful.contains($0) }
    return String(decoding: bytes, as: UTF8.self).replacing(":", with: ",")
  }

  private static func bracketed(_ text: String) -> String {
    quoted(text).replacing("[", with: "(").replacing("]", with: ")")
  }
}
