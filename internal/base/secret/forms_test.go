package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"deployster/internal/base/loglines"
	"deployster/internal/runtime/runner"
)

// inJSON returns a text as a JSON string.
func inJSON(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// Whatever is next to a secret in what is encoded, the secret cannot be decoded from what is shown.
func TestHider_Base64AtEachPosition(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"abcd", "hunter2", "p<w>d??~~\xfb\xff", "s3cr3t-with-a-longer-text"} {
		hider := NewHider([]string{word})
		for before := range 9 {
			for after := range 4 {
				plain := strings.Repeat("u", before) + word + strings.Repeat("~", after)
				for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
					shown := hider.Hide("Authorization: Basic " + e.EncodeToString([]byte(plain)) + "\n")
					if !strings.Contains(shown, Masked) {
						t.Fatalf("%q in %q is shown as %q", word, plain, shown)
					}
					_, shown, _ = strings.Cut(shown, "Basic ")
					for rest := range strings.FieldsSeq(strings.ReplaceAll(strings.ReplaceAll(shown, Masked, " "), "=", " ")) {
						for at := range min(4, len(rest)) {
							got, _ := e.WithPadding(base64.NoPadding).DecodeString(rest[at : at+(len(rest)-at)/4*4])
							if strings.Contains(string(got), word[1:]) || strings.Contains(string(got), word[:len(word)-1]) {
								t.Fatalf("%q in %q is shown as %q: %q", word, plain, shown, got)
							}
						}
					}
				}
			}
		}
	}
}

func TestHider_Forms(t *testing.T) {
	t.Parallel()
	const word = `p<w>&"d'/\ ü?+%~1`
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	hider := NewHider([]string{word, "  of a file\n"})
	for name, text := range map[string]string{
		"nothing else":                word,
		"JSON":                        inJSON(word),
		"JSON in JSON":                inJSON(inJSON(word)),
		"quoted in JSON":              inJSON(fmt.Sprintf("%q", word)),
		"ASCII":                       fmt.Sprintf("%+q", word),
		"JSON with escaped slashes":   strings.ReplaceAll(inJSON(word), "/", `\/`),
		"JSON in base64":              encoded(`{"password":` + inJSON(word) + `}`),
		"JSON in an address":          url.QueryEscape(`{"p":` + inJSON(word) + `}`),
		"a path":                      url.PathEscape(word),
		"a query":                     url.QueryEscape("x=" + word),
		"a query in lower case":       strings.ToLower(url.QueryEscape(word)),
		"a user":                      url.UserPassword("root", word).String(),
		"HTML":                        html.EscapeString("<a>" + word),
		"HTML with names":             strings.ReplaceAll(html.EscapeString(word), "&#34;", "&quot;"),
		"JSON in HTML":                html.EscapeString(inJSON(word)),
		"hex":                         "00" + hex.EncodeToString([]byte("x"+word+"y")),
		"upper hex":                   strings.ToUpper(hex.EncodeToString([]byte(word))),
		"a pointer":                   "/k/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(word) + "/x",
		"a shell":                     "+ login '" + strings.ReplaceAll(word, "'", `'\''`) + "'",
		"the config of docker":        encoded(`{"auths":{"r":{"auth":"` + encoded("root:"+word) + `"}}}`),
		"the config of docker, again": encoded(`{"auths":{"reg":{"auth":"` + encoded("adm:"+word) + `"}}}`),
		"without the last newline":    "of a file",
	} {
		if shown := hider.Hide("it is " + text + "."); !strings.Contains(shown, Masked) {
			t.Errorf("%s: %q", name, shown)
		}
	}
}

// A file in base64 is printed in lines, and each is recognised alone.
func TestHider_WrappedBase64(t *testing.T) {
	t.Parallel()
	var key strings.Builder
	for i := range 20 {
		fmt.Fprintf(&key, "line %d of a key, which is secret\n", i*i)
	}
	hider := NewHider([]string{key.String()})
	text := base64.StdEncoding.EncodeToString([]byte(key.String()))
	for _, width := range []int{64, 76} {
		for rest := text; len(rest) > width; rest = rest[width:] {
			if shown := hider.Hide(rest[:width]); shown != Masked {
				t.Fatalf("%d: %q", width, shown)
			}
		}
	}
}

// A line that was cut in the middle of a secret shows no part of it.
func TestHider_CutLine(t *testing.T) {
	t.Parallel()
	hider := NewHider([]string{"hunter2-and-more"})
	for text, want := range map[string]string{
		"x hunter2-and" + loglines.Cut:      "x " + Masked,
		"x hunter2-and-more" + loglines.Cut: "x " + Masked + loglines.Cut,
		"x hunter2-and":                     "x hunter2-and",
		"x hun" + loglines.Cut:              "x hun" + loglines.Cut,
	} {
		if got := hider.Hide(text); !strings.HasPrefix(got, want) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The middle of a long log is left out, and what is left may end or begin in a secret.
func TestHider_LogWithAGap(t *testing.T) {
	t.Parallel()
	const word = "hunter2-and-more"
	hider := NewHider([]string{word, "another"})
	log := runner.NewLog(2)
	_, _ = log.Write(make([]byte, 1002)) // it never fails
	gap := loglines.Gap(1000)
	if got := string(log.Bytes()[1:][:len(gap)]); got != gap {
		t.Fatalf("a log has the gap %q, want %q", got, gap)
	}
	for before := MinEmbedded; before < len(word)-MinEmbedded; before++ {
		text := "x " + word[:before] + gap + word[before:] + " y " + word + gap + word[before:]
		want := "x " + Masked + gap + Masked + " y " + Masked + gap + Masked
		if got := hider.Hide(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"more" + gap + "hunter2", "x hun" + gap + "ore", gap} {
		if got := hider.Hide(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// What is next to a secret by chance stays.
func TestHider_HidesNothingElse(t *testing.T) {
	t.Parallel()
	secrets := benchSecrets(50)
	hider := NewHider(append(secrets, "1234", "abcd", "a8f1"))
	public := benchLog(nil)
	public = strings.NewReplacer("1234", "", "abcd", "", "a8f1", "").Replace(public)
	if shown := hider.Hide(public); shown != public {
		at := strings.Index(shown, Masked)
		t.Errorf("%q is hidden", public[max(0, at-20):at+20])
	}
}
