package jsondoc

import (
	"bytes"
	"unicode/utf8"
)

// scanner looks at a document once, byte by byte and without making anything of
// it. It is sure of what it accepts. What it does not accept may only be
// unusual: then check looks again, slowly, and says what is wrong.
type scanner struct {
	data      []byte
	at        int
	bounds         // values: those that it may still have
	canonical bool // so far, every byte is as Canonical would write it

	// The keys of all open objects, one after the other. Few of them need no
	// memory of their own.
	open int
	few  [manyKeys][]byte
	more [][]byte
}

// key is one of the keys.
func (s *scanner) key(i int) []byte {
	if i < len(s.few) {
		return s.few[i]
	}
	return s.more[i-len(s.few)]
}

// push adds a key.
func (s *scanner) push(key []byte) {
	if s.open < len(s.few) {
		s.few[s.open] = key
	} else {
		s.more = append(s.more[:s.open-len(s.few)], key)
	}
	s.open++
}

// manyKeys is from how many keys on an object has a map of them.
const manyKeys = 16

// scan reports whether data is surely exactly one well-behaved value, and whether
// it is in canonical form already.
func scan(data []byte) (sound, canonical bool) { return scanWithin(data, foreign()) }

func scanWithin(data []byte, within bounds) (sound, canonical bool) {
	s := scanner{data: data, canonical: true, bounds: within}
	s.space()
	if !s.value(0) {
		return false, false
	}
	s.space()
	return s.at == len(data), s.canonical
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
			s.canonical = false
		default:
			return
		}
	}
}

// next takes one byte if it is there.
func (s *scanner) next(c byte) bool {
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value takes a value; depth is how many objects and arrays are open around it.
func (s *scanner) value(depth int) bool {
	if s.values--; s.values < 0 || s.at >= len(s.data) {
		return false
	}
	switch c := s.data[s.at]; c {
	case '{':
		return depth < s.depth && s.object(depth+1)
	case '[':
		return depth < s.depth && s.array(depth+1)
	case '"':
		_, _, ok := s.text()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

func (s *scanner) array(depth int) bool {
	s.at++
	s.space()
	if s.next(']') {
		return true
	}
	for {
		if s.space(); !s.value(depth) {
			return false
		}
		s.space()
		if s.next(']') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

func (s *scanner) object(depth int) bool {
	s.at++
	s.space()
	if s.next('}') {
		return true
	}
	first := s.open
	var many map[string]bool
	for {
		s.space()
		key, plain, ok := s.text()
		if ok && !plain {
			key = []byte(unquote(s.data[s.at-len(key)-2 : s.at]))
		}
		if !ok || s.twice(key, first, &many) {
			return false
		}
		if s.open > first && bytes.Compare(s.key(s.open-1), key) > 0 {
			s.canonical = false
		}
		s.push(key)
		s.space()
		if !s.next(':') {
			return false
		}
		if s.space(); !s.value(depth) {
			return false
		}
		s.space()
		if s.next('}') {
			s.open = first
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

// twice reports whether a key is among those of its object, which are the last ones
// from first on.
func (s *scanner) twice(key []byte, first int, many *map[string]bool) bool {
	if s.open-first < manyKeys {
		for i := first; i < s.open; i++ {
			if bytes.Equal(s.key(i), key) {
				return true
			}
		}
		return false
	}
	if *many == nil {
		*many = make(map[string]bool, 2*manyKeys)
		for i := first; i < s.open; i++ {
			(*many)[string(s.key(i))] = true
		}
	}
	if (*many)[string(key)] {
		return true
	}
	(*many)[string(key)] = true
	return false
}

// text takes a string and gives what stands between its quotes. One with an
// escape is plain=false: it says something else than it looks like.
func (s *scanner) text() (inner []byte, plain, ok bool) {
	if !s.next('"') {
		return nil, false, false
	}
	start := s.at
	plain = true
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			inner = s.data[start:s.at]
			s.at++
			return inner, plain, true
		case c == '\\':
			if plain = false; !s.escape() {
				return nil, false, false
			}
		case c < ' ':
			return nil, false, false
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, size := utf8.DecodeRune(s.data[s.at:])
			if r == utf8.RuneError && size == 1 {
				return nil, false, false
			}
			if r == '\u2028' || r == '\u2029' { // are written as escapes
				s.canonical = false
			}
			s.at += size
		}
	}
	return nil, false, false
}

// escape takes what begins with a backslash. Halves of surrogate pairs are not
// accepted, whole pairs neither.
func (s *scanner) escape() bool {
	if s.at+1 >= len(s.data) {
		return false
	}
	switch s.data[s.at+1] {
	case '"', '\\', 'n', 'r', 't':
		s.at += 2
		return true
	case '/', 'b', 'f':
		s.canonical = false
		s.at += 2
		return true
	case 'u':
		s.canonical = false
		digits := s.data[s.at+2:]
		if len(digits) < 4 {
			return false
		}
		for _, c := range digits[:4] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return false
			}
		}
		if digits[0]|0x20 == 'd' && digits[1] >= '8' {
			return false
		}
		s.at += 6
		return true
	}
	return false
}

// number takes a number without an exponent.
func (s *scanner) number() bool {
	start := s.at
	s.next('-')
	if !s.next('0') && !s.digits() {
		return false
	}
	if s.next('.') && !s.digits() {
		return false
	}
	if s.at-start > MaxDigits {
		return false
	}
	return s.at == len(s.data) || s.data[s.at] != 'e' && s.data[s.at] != 'E'
}

// digits takes at least one.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}
