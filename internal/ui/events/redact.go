package events

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// A secret may equal a word of the protocol. The texts that programs depend on are never
// hidden: keys, except those in values of the user, and the words and names that identify
// an event.
var (
	identifiers = []string{"type", "time", "level", "resource", "change", "status", "purpose", "stream", "command", "run", "phase",
		"image", "started", "artifact"}
	ourWords   = []string{"status", "severity", "change"}
	wordValues = []string{"ok", "valid", "skipped", "error", "warning", "interrupted", "not_started", "unknown", "pass", "fail",
		"create", "update", "replace", "destroy", "forget", "deferred", "record", "left", "read_failed"}
)

// values are the keys of what users and images write: all below them may be a secret.
func values() []string {
	return []string{"value", "config", "state", "staleState", "stale", "forecast", "was", "found", "have", "want", "source", "params",
		"metadata", "stdin", "stdout", "stderr"}
}

func isValue(at jsondoc.Place) bool {
	return slices.ContainsFunc(values(), func(key string) bool { return slices.Contains(at.Path, key) })
}

// Redact hides secrets in an event or a report. Keys of deployster and the words that
// programs depend on stay. A nil hide means that there are no secrets.
func Redact(line []byte, hide func(string) string) []byte {
	if hide == nil {
		return line
	}
	return jsondoc.Rewrite(line, func(text string, at jsondoc.Place) string {
		if isOurs(text, at) {
			return text
		}
		return hide(text)
	})
}

// RedactDocument hides secrets in a document in which deployster has marked and masked
// values already: those that are in other forms or longer texts. Outside of values it hides
// what is part of a text, so that a short secret changes no number and no word of it.
func RedactDocument(document []byte, hide func(string) string) []byte {
	return jsondoc.Rewrite(document, func(text string, at jsondoc.Place) string {
		switch {
		case isValue(at):
			return hide(text)
		case at.Key || at.Number || len(text) < secret.MinEmbedded:
			return text
		}
		return hide(text)
	})
}

func isOurs(text string, at jsondoc.Place) bool {
	if at.Key || at.Number { // a short secret may equal any number
		return !isValue(at)
	}
	if len(at.Path) == 0 {
		return false
	}
	under := at.Path[len(at.Path)-1]
	return len(at.Path) == 1 && slices.Contains(identifiers, under) ||
		slices.Contains(ourWords, under) && slices.Contains(wordValues, text)
}

// escaped returns a copy of a line in which characters that may control a terminal are
// escaped as JSON allows: \u009b.
func escaped(line []byte) []byte {
	if diag.Plain(line) {
		return bytes.Clone(line)
	}
	var b bytes.Buffer
	for rest := line; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || r == '\t' || diag.Visible(string(rest[:size])) == string(rest[:size]):
			b.Write(rest[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	return b.Bytes()
}
