package e2e

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Secrets with characters that each encoding writes otherwise, and three in a row that base64url
// writes otherwise wherever the secret begins.
const (
	canaryWord    = `Kx9&v<Wq"/mZ 3+t~?>Lp=8` // a variable has it
	generatedWord = `Hd7&r<Yc"/nB 5+g~?>Vs=2` // a type generates it
)

// canaryForms are the texts in which a type shows a secret.
func canaryForms(word string) map[string]string {
	quoted := func(s string) string {
		text, _ := json.Marshal(s)
		return string(text)
	}
	basic := func(user string) string { return base64.StdEncoding.EncodeToString([]byte(user + ":" + word)) }
	return map[string]string{
		"plain": word, "root": basic("root"), "adm": basic("adm"), "admin": basic("admin"),
		"base64url": base64.RawURLEncoding.EncodeToString([]byte(word)), "hex": hex.EncodeToString([]byte(word)),
		"upper hex": strings.ToUpper(hex.EncodeToString([]byte(word))), "path": url.PathEscape(word),
		"query": url.QueryEscape(word), "JSON": quoted(word), "JSON in JSON": quoted(quoted(word)),
		"HTML": html.EscapeString(word),
	}
}

// showsCanary reports how a text shows eight or more bytes of one of the words; "" = it does
// not. It decodes the text in each way that it can be, again and again: it does not know what
// the product hides.
func showsCanary(text string, words ...string) string {
	return decodes(text, 3, words, map[string]bool{})
}

func decodes(text string, depth int, words []string, seen map[string]bool) string {
	for _, word := range words {
		for i := 0; i+8 <= len(word); i++ {
			part := word[i : i+8]
			for _, one := range []string{part, strings.ReplaceAll(part, "/", ".")} {
				if at := strings.Index(text, one); at >= 0 {
					return fmt.Sprintf("%q", text[max(0, at-40):min(len(text), at+60)])
				}
			}
		}
	}
	if depth == 0 {
		return ""
	}
	for _, d := range canaryDecoders {
		after := d.decode(text)
		if after == "" || after == text || seen[after] {
			continue
		}
		seen[after] = true
		if how := decodes(after, depth-1, words, seen); how != "" {
			return d.name + ": " + how
		}
	}
	return ""
}

type canaryDecoder struct {
	name   string
	decode func(string) string
}

var canaryDecoders = newCanaryDecoders()

func newCanaryDecoders() []canaryDecoder {
	escape, percent := regexp.MustCompile(`\\+u00([0-9a-fA-F]{2})`), regexp.MustCompile(`%([0-9a-fA-F]{2})`)
	plain := regexp.MustCompile(`\\+(["/\\'])`)
	bytesOf := func(digits string) string {
		b, _ := hex.DecodeString(digits)
		return string(b)
	}
	list := []canaryDecoder{
		{"backslashes", func(s string) string {
			return plain.ReplaceAllString(escape.ReplaceAllStringFunc(s, func(m string) string { return bytesOf(m[len(m)-2:]) }), "$1")
		}},
		{"percent", func(s string) string {
			return percent.ReplaceAllStringFunc(s, func(m string) string { return bytesOf(m[1:]) })
		}},
		{"query", func(s string) string {
			return percent.ReplaceAllStringFunc(strings.ReplaceAll(s, "+", " "), func(m string) string { return bytesOf(m[1:]) })
		}},
		{"HTML", html.UnescapeString},
		{"pointer", strings.NewReplacer("~1", "/", "~0", "~").Replace},
	}
	runs := func(letters string, least, step, offsets int, read func(string) string) func(string) string {
		var is [256]bool
		for _, c := range []byte(letters) {
			is[c] = true
		}
		return func(s string) string {
			var b strings.Builder
			for from, at := 0, 0; at <= len(s); at++ {
				if at < len(s) && is[s[at]] {
					continue
				}
				for offset := range offsets {
					if run := s[from:at]; len(run) >= max(least, offset+2*step) {
						b.WriteString(read(run[offset:offset+(len(run)-offset)/step*step]) + "\n")
					}
				}
				from = at + 1
			}
			return b.String()
		}
	}
	const digits, letters = "0123456789abcdefABCDEF", "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ+/_-"
	return append(list, canaryDecoder{"hex", runs(digits, 16, 2, 2, bytesOf)},
		canaryDecoder{"base64", runs(digits+letters, 10, 4, 4, func(s string) string {
			b, _ := base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s))
			return string(b)
		})})
}

// pieces are all texts of eight bytes of the forms of secrets, as numbers: with them a large
// file is searched in one pass.
type pieces struct {
	maybe [1 << 16]bool // by the lower half of the number
	all   map[uint64]bool
}

func piecesOf(words ...string) *pieces {
	p := &pieces{all: map[uint64]bool{}}
	for _, word := range words {
		texts := []string{strings.ReplaceAll(word, "/", ".")}
		for name, text := range canaryForms(word) {
			if !slices.Contains([]string{"root", "adm", "admin"}, name) { // they begin with what is public
				texts = append(texts, text)
			}
		}
		for before := range 3 {
			text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), word...))
			text = text[before+1 : len(text)-1]
			texts = append(texts, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
		}
		for _, text := range texts {
			for i := 0; i+8 <= len(text); i++ {
				n := binary.BigEndian.Uint64([]byte(text[i:]))
				p.all[n], p.maybe[n%(1<<16)] = true, true
			}
		}
	}
	return p
}

// in returns a piece that is in a text, with what is before and after it; "" = there is none.
func (p *pieces) in(text []byte) string {
	var n uint64
	for i, c := range text {
		if n = n<<8 | uint64(c); i >= 7 && p.maybe[n%(1<<16)] && p.all[n] {
			return fmt.Sprintf("%q", text[max(0, i-40):min(len(text), i+60)])
		}
	}
	return ""
}

// The checker finds each form, alone and in JSON in base64, and nothing where there is nothing.
func TestShowsCanary_FindsEachForm(t *testing.T) {
	t.Parallel()
	const mask = `{"password":"(sensitive value)","digest":"sha256:4d78392699"}`
	for _, word := range []string{canaryWord, generatedWord} {
		pieces := piecesOf(word)
		for name, text := range canaryForms(word) {
			inner, _ := json.Marshal(map[string]string{"k": text})
			for _, shown := range []string{text, "it is " + text + ".", string(inner), base64.StdEncoding.EncodeToString(inner)} {
				if showsCanary(shown, canaryWord, generatedWord) == "" {
					t.Errorf("%s is not found in %q", name, shown)
				}
			}
			if !slices.Contains([]string{"JSON in JSON"}, name) && pieces.in([]byte("in "+string(inner))) == "" {
				t.Errorf("no piece of %s is found in %q", name, inner)
			}
		}
		if how := showsCanary(mask, word) + pieces.in([]byte(mask)); how != "" {
			t.Error(how)
		}
	}
	if how := showsCanary("it is "+generatedWord, canaryWord); how != "" {
		t.Errorf("another word is found: %s", how)
	}
}
