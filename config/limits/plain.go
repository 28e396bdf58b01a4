package limits

import (
	"bytes"
	"unicode/utf8"
)

// plain reports whether a file in native syntax is certainly within all limits, by
// one look at its bytes: tokens cost a hundred times as much, and most files are
// nowhere near. It follows brackets and quotes only as far as there can be no
// doubt about them, and no for what is unusual: that is looked at thoroughly.
func plain(src []byte) bool {
	if len(src) > Tokens/2 { // a token is a byte or more, but for the one at the end
		return false
	}
	p := plainScan{src: src}
	for p.at < len(src) {
		in := byte(0)
		if len(p.open) > 0 {
			in = p.open[len(p.open)-1]
		}
		if in == '"' && !p.text() || in != '"' && !p.code(in) || len(p.open) > Depth/2 || p.operators > Operators {
			return false
		}
	}
	return !p.wide || utf8.Valid(src)
}

// plainScan goes through a file.
type plainScan struct {
	src       []byte
	at        int
	open      []byte // brackets: $ is that of an interpolation, and " a text
	operators int    // in one block outside all others, at the most
	wide      bool   // there are characters beyond ASCII
}

// next is the byte i after the one that is looked at, 0 at the end.
func (p *plainScan) next(i int) byte {
	if p.at+i < len(p.src) {
		return p.src[p.at+i]
	}
	return 0
}

// text goes on inside quotes.
func (p *plainScan) text() bool {
	switch c := p.next(0); {
	case c == '"':
		p.open = p.open[:len(p.open)-1]
	case c == '$' && p.next(1) == '{' && p.next(2) != '~':
		p.open = append(p.open, '$')
		p.at++
	case c == '\\' && p.next(1) > ' ' && p.next(1) < utf8.RuneSelf:
		p.at++
	case c == '%' && isLetter(p.next(1)):
	case c == '$' || c == '%' || c == '\\' || c == '\n' || c == '\r':
		return false
	case c >= utf8.RuneSelf:
		p.wide = true
	}
	p.at++
	return true
}

// code goes on outside quotes, inside the bracket in.
func (p *plainScan) code(in byte) bool {
	switch c := p.next(0); c {
	case ' ', '\t', ',', '.', ':':
	case '\n':
		if in == 0 {
			p.operators = 0
		}
	case '\r':
		return p.skip(1) && p.next(0) == '\n'
	case '{', '(', '"':
		p.open = append(p.open, c)
	case '[':
		p.open = append(p.open, c)
		p.operators++
	case '}':
		return (in == '{' || in == '$') && p.shut()
	case ']':
		return in == '[' && p.shut()
	case ')':
		return in == '(' && p.shut()
	case '=', '!', '-', '+', '*', '%', '&', '|', '>', '?':
		p.operators++
	case '<':
		p.operators++
		return p.next(1) != '<' && p.skip(1)
	case '#':
		return p.comment()
	case '/':
		p.operators++
		return p.next(1) != '*' && (p.next(1) == '/' && p.comment() || p.next(1) != '/' && p.skip(1))
	default:
		return p.word(c)
	}
	return p.skip(1)
}

func (p *plainScan) skip(n int) bool {
	p.at += n
	return true
}

func (p *plainScan) shut() bool {
	p.open = p.open[:len(p.open)-1]
	return p.skip(1)
}

// comment goes to the end of the line, which ends no expression.
func (p *plainScan) comment() bool {
	end := bytes.IndexByte(p.src[p.at:], '\n')
	if end < 0 {
		return false
	}
	for _, c := range p.src[p.at : p.at+end] {
		p.wide = p.wide || c >= utf8.RuneSelf
	}
	return p.skip(end + 1)
}

// word goes to the end of a name or a number.
func (p *plainScan) word(first byte) bool {
	end := p.at + 1
	switch {
	case isLetter(first) || first == '_':
		for end < len(p.src) && (isLetter(p.src[end]) || isDigit(p.src[end]) || p.src[end] == '_' || p.src[end] == '-') {
			end++
		}
	case isDigit(first):
		for end < len(p.src) && (isDigit(p.src[end]) || p.src[end] == '.') {
			end++
		}
		if end < len(p.src) && (p.src[end] == 'e' || p.src[end] == 'E') || end-p.at > NumberText {
			return false
		}
	default:
		return false
	}
	p.at = end
	return end == len(p.src) || p.src[end] < utf8.RuneSelf
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
