package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
)

// maxEscaped is the length, in bytes, of the longest secret of which all forms are made. Of
// a longer one, such as a file, only those are made in which programs print files.
const maxEscaped = 16 << 10

// form is a text that shows a secret.
type form struct {
	text string
	// In base64, the characters at both ends may be made of the secret and of what is next
	// to it. They are not searched for, and they are masked.
	left, right bool
}

// forms returns the texts that show a secret which is part of a longer text: unchanged, with
// the escapes of other formats, and encoded. Some are equal.
func forms(s string) (list []form) {
	escaped := escapes(s)
	for _, text := range escaped {
		list = append(list, form{text: text})
	}
	for _, text := range []string{hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))),
		base64.StdEncoding.EncodeToString([]byte(s))} {
		list = append(list, form{text: text})
	}
	inner := base64Forms(s)
	list = append(list, inner...)
	if len(s) > maxEscaped {
		return list
	}
	// The config of docker has a password in base64, and Kubernetes shows it in base64 again.
	for _, one := range inner {
		list = append(list, base64Forms(one.text)...)
	}
	for _, text := range []string{jsonText(s, true), jsonText(s, false)} {
		if text != s {
			list = append(list, base64Forms(text)...)
		}
	}
	return list
}

// base64Forms returns the part of the base64 form of a longer text that depends on the
// secret in it alone, for each of the three positions in a group of three bytes, in both alphabets.
func base64Forms(s string) (list []form) {
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), s...))
		begin, end := (8*before+5)/6, 8*(before+len(s))/6
		if end-begin < MinEmbedded {
			continue
		}
		one := form{text: text[begin:end], left: before > 0, right: 8*(before+len(s))%6 != 0}
		list = append(list, one)
		if other := strings.ReplaceAll(strings.ReplaceAll(one.text, "+", "-"), "/", "_"); other != one.text {
			list = append(list, form{other, one.left, one.right})
		}
	}
	return list
}

// wrapped returns the lines of the base64 form of a file, as programs wrap it.
func wrapped(s string) (lines []string) {
	text := base64.StdEncoding.EncodeToString([]byte(s))
	for _, width := range []int{64, 76} {
		for rest := text; len(rest) > minLine; {
			line := rest[:min(width, len(rest))]
			lines, rest = append(lines, line), rest[len(line):]
		}
	}
	return lines
}

// escapes returns a secret as other formats escape it, and what becomes of that in JSON and
// in addresses. Nothing escapes a secret of letters and digits alone.
func escapes(s string) []string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return []string{s}
	}
	inJSON, inHTML := jsonText(s, false), jsonText(s, true)
	once := []string{s, inJSON, inHTML, unquoted(strconv.Quote(s)), diag.Visible(s)}
	if len(s) > maxEscaped {
		return once
	}
	for _, text := range []string{inJSON, inHTML} {
		ascii := asciiJSON(text)
		once = append(once, ascii, strings.ReplaceAll(text, "/", `\/`), strings.ReplaceAll(ascii, "/", `\/`))
	}
	once = append(once, htmlTexts(s)...)
	once = append(once, unquoted(strconv.QuoteToASCII(s)),
		strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1"), // in JSON pointers
		strings.ReplaceAll(s, "'", `'\''`))                              // in shells
	for _, text := range []string{s, inJSON, inHTML} {
		query := url.QueryEscape(text)
		component := strings.ReplaceAll(query, "+", "%20")
		browser := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(component)
		user := strings.TrimPrefix(url.UserPassword("", text).String(), ":")
		for _, one := range []string{url.PathEscape(text), query, component, browser, user} {
			once = append(once, one, lowerPercent(one))
		}
	}
	all := append(once, html.EscapeString(inJSON), html.EscapeString(inHTML))
	slices.Sort(once)
	for _, text := range slices.Compact(once) {
		all = append(all, jsonText(text, false), jsonText(text, true), unquoted(strconv.Quote(text)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// htmlTexts returns a secret as it is in HTML, with each way to write its quotes.
func htmlTexts(s string) (list []string) {
	text := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(s, "&", "&amp;"), "<", "&lt;"), ">", "&gt;")
	for _, double := range []string{`"`, "&#34;", "&quot;"} {
		for _, single := range []string{"'", "&#39;", "&#x27;", "&apos;"} {
			list = append(list, strings.ReplaceAll(strings.ReplaceAll(text, `"`, double), "'", single))
		}
	}
	return list
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// lowerPercent returns an escaped text with the hexadecimal digits of its escapes in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// asciiJSON escapes the characters of a JSON text that are not ASCII.
func asciiJSON(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// jsonText returns a string in its JSON form, without the quotes. Some encoders also
// escape the special characters of HTML.
func jsonText(s string, html bool) string {
	text := unquoted(string(jsondoc.AppendText(nil, s)))
	if html && strings.ContainsAny(text, "<>&") {
		text = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "<", `\u003c`), ">", `\u003e`), "&", `\u0026`)
	}
	return text
}
