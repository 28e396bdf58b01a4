package loglines

import (
	"bytes"

	"deployster/internal/base/diag"
)

// Shown returns a line as a terminal shows it, safe to print: what follows the last carriage
// return, without codes for colours and for erasing. All other control characters are written out.
func Shown(line []byte) string {
	line = bytes.TrimRight(line, "\r")
	return diag.Visible(string(colourless(line[bytes.LastIndexByte(line, '\r')+1:])))
}

// escape begins every code for a terminal.
const escape = 0x1b

// colourless returns a line without the codes that change how characters appear (ESC [ ... m), that
// erase a part of the line (ESC [ ... K), or that select the usual characters (ESC ( B). A code
// that could change other lines, such as one that moves the cursor, is kept.
func colourless(line []byte) []byte {
	next := bytes.IndexByte(line, escape)
	if next < 0 {
		return line
	}
	kept := make([]byte, 0, len(line))
	for ; next >= 0; next = bytes.IndexByte(line, escape) {
		kept = append(kept, line[:next]...)
		line = line[next:]
		n := codeLength(line)
		if n == 0 { // it is kept
			n = 1
			kept = append(kept, escape)
		}
		line = line[n:]
	}
	return append(kept, line...)
}

// codeLength returns the length of the code at the begin of a text, if it is one that colourless drops; else 0.
func codeLength(text []byte) int {
	if bytes.HasPrefix(text, []byte{escape, '(', 'B'}) {
		return 3
	}
	if !bytes.HasPrefix(text, []byte{escape, '['}) {
		return 0
	}
	for i, c := range text[2:] {
		switch {
		case '0' <= c && c <= '9', c == ';', c == ':':
		case c == 'm', c == 'K':
			return 2 + i + 1
		default:
			return 0
		}
	}
	return 0
}
