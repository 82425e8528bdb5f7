/// The languages of the viewer.
public enum LogLanguage: String, Sendable, CaseIterable {
  case english = "en"
  case german = "de"
  case french = "fr"
  case spanish = "es"
  case portuguese = "pt"
  case japanese = "ja"
  case russian = "ru"
  case traditionalChinese = "zh-Hant"

  /// The first of the user's languages that the viewer supports, such as `pt-BR` or `zh-Hant-TW`;
  /// else English.
  public init(preferred: [String]) {
    for name in preferred {
      let parts = name.split(whereSeparator: { $0 == "-" || $0 == "_" }).map { $0.lowercased() }
      let isTraditional = parts.contains { ["hant", "tw", "hk", "mo"].contains($0) }
      if parts.first == "zh", isTraditional {
        self = .traditionalChinese
        return
      }
      if let first = parts.first, let language = LogLanguage(rawValue: first) {
        self = language
        return
      }
    }
    self = .english
  }
}

/// What the viewer shows besides the records: labels, and hints that are read aloud.
public enum LogLabel: String, Sendable, CaseIterable {
  case title, level, time, tag, message, selectAll, export, clear, selectHint, exportHint

  /// The text in a language.
  public func text(_ language: LogLanguage) -> String {
    switch self {
    case .title:
      switch language {
      case .english: "Log"
      case .german: "Protokoll"
      case .french: "Journal"
      case .spanish: "Registro"
      case .portuguese: "Registo"
      case .japanese: "ログ"
      case .russian: "Журнал"
      case .traditionalChinese: "記錄檔"
      }
    case .level:
      switch language {
      case .english: "Level"
      case .german: "Stufe"
      case .french: "Niveau"
      case .spanish: "Nivel"
      case .portuguese: "Nível"
      case .japanese: "レベル"
      case .russian: "Уровень"
      case .traditionalChinese: "等級"
      }
    case .time:
      switch language {
      case .english: "Time"
      case .german: "Zeit"
      case .french: "Heure"
      case .spanish: "Hora"
      case .portuguese: "Hora"
      case .japanese: "時刻"
      case .russian: "Время"
      case .traditionalChinese: "時間"
      }
    case .tag:
      switch language {
      case .english: "Tag"
      case .german: "Kennung"
      case .french: "Étiquette"
      case .spanish: "Etiqueta"
      case .portuguese: "Etiqueta"
      case .japanese: "タグ"
      case .russian: "Метка"
      case .traditionalChinese: "標籤"
      }
    case .message:
      switch language {
      case .english: "Message"
      case .german: "Meldung"
      case .french: "Message"
      case .spanish: "Mensaje"
      case .portuguese: "Mensagem"
      case .japanese: "メッセージ"
      case .russian: "Сообщение"
      case .traditionalChinese: "訊息"
      }
    case .selectAll:
      switch language {
      case .english: "Select all"
      case .german: "Alle auswählen"
      case .french: "Tout sélectionner"
      case .spanish: "Seleccionar todo"
      case .portuguese: "Selecionar tudo"
      case .japanese: "すべて選択"
      case .russian: "Выбрать все"
      case .traditionalChinese: "全選"
      }
    case .export:
      switch language {
      case .english: "Send"
      case .german: "Senden"
      case .french: "Envoyer"
      case .spanish: "Enviar"
      case .portuguese: "Enviar"
      case .japanese: "送信"
      case .russian: "Отправить"
      case .traditionalChinese: "傳送"
      }
    case .clear:
      switch language {
      case .english: "Clear"
      case .german: "Leeren"
      case .french: "Effacer"
      case .spanish: "Borrar"
      case .portuguese: "Limpar"
      case .japanese: "消去"
      case .russian: "Очистить"
      case .traditionalChinese: "清除"
      }
    case .selectHint:
      switch language {
      case .english: "Picks this entry for sending."
      case .german: "Wählt diesen Eintrag zum Senden aus."
      case .french: "Sélectionne cette entrée pour l’envoi."
      case .spanish: "Elige esta entrada para enviarla."
      case .portuguese: "Escolhe esta entrada para enviar."
      case .japanese: "この項目を送信対象に選びます。"
      case .russian: "Выбирает эту запись для отправки."
      case .traditionalChinese: "選取此項目以便傳送。"
      }
    case .exportHint:
      switch language {
      case .english: "Sends the picked entries as one compressed file."
      case .german: "Sendet die ausgewählten Einträge als eine komprimierte Datei."
      case .french: "Envoie les entrées choisies dans un seul fichier compressé."
      case .spanish: "Envía las entradas elegidas en un solo archivo comprimido."
      case .portuguese: "Envia as entradas escolhidas num único ficheiro comprimido."
      case .japanese: "選んだ項目を一つの圧縮ファイルで送信します。"
      case .russian: "Отправляет выбранные записи одним сжатым файлом."
      case .traditionalChinese: "將選取的項目以一個壓縮檔傳送。"
      }
    }
  }
}
