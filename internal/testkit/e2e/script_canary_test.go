package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// canaryWord is a secret with characters that each encoding writes otherwise.
const canaryWord = `Kx9&v<Wq"/mZ 3+t~Lp=8`

// canaryForms are the texts in which a type shows the secret.
func canaryForms() map[string]string {
	quoted := func(s string) string {
		text, _ := json.Marshal(s)
		return string(text)
	}
	basic := func(user string) string { return base64.StdEncoding.EncodeToString([]byte(user + ":" + canaryWord)) }
	return map[string]string{
		"plain": canaryWord, "root": basic("root"), "adm": basic("adm"), "admin": basic("admin"),
		"base64url": base64.RawURLEncoding.EncodeToString([]byte(canaryWord)), "hex": hex.EncodeToString([]byte(canaryWord)),
		"upper hex": strings.ToUpper(hex.EncodeToString([]byte(canaryWord))), "path": url.PathEscape(canaryWord),
		"query": url.QueryEscape(canaryWord), "JSON": quoted(canaryWord), "JSON in JSON": quoted(quoted(canaryWord)),
		"HTML": html.EscapeString(canaryWord),
	}
}

// canary prepares the answers of a type that shows a secret in each form and place, or checks
// that no file shows it in any.
func canary(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case !neg && len(args) == 2 && args[0] == "prepare":
		ts.Setenv("DEPLOYSTER_VAR_password", canaryWord)
		prepareCanary(ts, ts.MkAbs(args[1]))
	case !neg && len(args) > 0 && args[0] == "nowhere":
		seen := 0
		ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // it is gone meanwhile
			}
			name, _ := filepath.Rel(ts.MkAbs("."), path)
			if slices.Contains(args[1:], name) {
				if e.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if how := showsCanary(name); how != "" {
				ts.Fatalf("the name of %s shows the secret: %s", name, how)
			}
			if !e.Type().IsRegular() {
				return nil
			}
			content, err := os.ReadFile(path)
			ts.Check(err)
			if strings.HasPrefix(name, "deployster.state.json") {
				content = withoutSensitive(ts, content)
			}
			if how := showsCanary(string(content)); how != "" {
				ts.Fatalf("%s shows the secret: %s", name, how)
			}
			seen++
			return nil
		}))
		if seen < 20 {
			ts.Fatalf("only %d files were read", seen)
		}
	default:
		ts.Fatalf("usage: canary prepare DIR, or canary nowhere [EXCEPT...]")
	}
}

// prepareCanary writes the answers and the log of the type.
func prepareCanary(ts *testscript.TestScript, dir string) {
	ts.Check(os.MkdirAll(dir, 0o755))
	write := func(name string, v any) {
		content, err := json.Marshal(v)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, name), append(content, '\n'), 0o644))
	}
	type object = map[string]any
	var log strings.Builder
	var reasons []object
	values, keys, parts := object{}, object{}, []string{}
	for name, text := range canaryForms() {
		fmt.Fprintf(&log, "%s: it is %s.\n%s\n", name, text, text)
		values[name], parts = text, append(parts, "at "+text+" it is")
		keys["in "+name] = object{text: object{"x": 1}}
		reasons = append(reasons, object{"path": "/" + text, "have": text, "want": object{text: text}, "message": "it is " + text},
			object{"path": "/m/" + text + "/x", "have": 1})
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "log"), []byte(log.String()), 0o644))
	state := object{"values": values, "keys": keys, "parts": parts, "password": "Generated-3v<Wq&mZ", "open": "public"}
	actions := []object{{"name": "make", "args": []string{"make"}, "description": parts[0]}}
	reasons = append(reasons, object{"path": "/password", "have": "Kx9&v<Wq-before", "want": canaryWord})
	write("stale.json", object{"status": "STALE", "actions": actions, "reasons": reasons, "forecast": object{"values": values, "keys": keys}})
	write("valid.json", object{"status": "VALID", "state": state})
	write("drift.json", object{"status": "STALE", "staleState": state, "actions": actions, "reasons": reasons,
		"forecast": object{"values": values, "keys": keys}})
	write("error.json", object{"error": object{"class": "config", "path": "/m/" + canaryWord, "message": log.String()}})
}

// withoutSensitive returns a state file, in which sensitive values are by design, without
// those at the places that it calls sensitive itself.
func withoutSensitive(ts *testscript.TestScript, content []byte) []byte {
	var file map[string]any
	if json.Unmarshal(content, &file) != nil {
		return content
	}
	resources, _ := file["resources"].(map[string]any)
	for _, one := range resources {
		entry := one.(map[string]any)
		if seen, there := entry["found"].(map[string]any); there {
			pointers, _ := seen["sensitive"].([]any)
			for _, p := range pointers {
				seen["state"] = removed(seen["state"], strings.Split(p.(string), "/")[1:])
			}
		}
		sensitive, _ := entry["sensitive"].(map[string]any)
		for _, part := range []string{"config", "state"} {
			pointers, _ := sensitive[part].([]any)
			for _, p := range pointers {
				entry[part] = removed(entry[part], strings.Split(p.(string), "/")[1:])
			}
		}
	}
	outputs, _ := file["outputs"].(map[string]any)
	for name, one := range outputs {
		if one.(map[string]any)["sensitive"] == true {
			delete(outputs, name)
		}
	}
	out, err := json.Marshal(file)
	ts.Check(err)
	return out
}

func removed(v any, steps []string) any {
	if len(steps) == 0 {
		return nil
	}
	step := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[0])
	switch v := v.(type) {
	case map[string]any:
		if inner, there := v[step]; there {
			v[step] = removed(inner, steps[1:])
		}
	case []any:
		for i := range v {
			if fmt.Sprint(i) == step {
				v[i] = removed(v[i], steps[1:])
			}
		}
	}
	return v
}

// showsCanary says how a text shows eight or more bytes of the secret; "" = it does not. It
// decodes the text in each way that it can be, again and again: it does not know what the
// product hides.
func showsCanary(text string) string { return decodes(text, 3) }

func decodes(text string, depth int) string {
	for i := 0; i+8 <= len(canaryWord); i++ {
		part := canaryWord[i : i+8]
		for _, one := range []string{part, strings.ReplaceAll(part, "/", ".")} {
			if at := strings.Index(text, one); at >= 0 {
				return fmt.Sprintf("%q", text[max(0, at-40):min(len(text), at+60)])
			}
		}
	}
	if depth == 0 {
		return ""
	}
	for _, d := range canaryDecoders() {
		if after := d.decode(text); after != text && after != "" {
			if how := decodes(after, depth-1); how != "" {
				return d.name + ": " + how
			}
		}
	}
	return ""
}

type canaryDecoder struct {
	name   string
	decode func(string) string
}

func canaryDecoders() []canaryDecoder {
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
	runs := func(pattern string, step, offsets int, read func(string) string) func(string) string {
		find := regexp.MustCompile(pattern)
		return func(s string) string {
			var b strings.Builder
			for _, run := range find.FindAllString(s, -1) {
				for at := range offsets {
					if rest := run[min(at, len(run)):]; len(rest) >= 2*step {
						b.WriteString(read(rest[:len(rest)/step*step]) + "\n")
					}
				}
			}
			return b.String()
		}
	}
	return append(list, canaryDecoder{"hex", runs(`[0-9a-fA-F]{16,}`, 2, 2, bytesOf)},
		canaryDecoder{"base64", runs(`[0-9A-Za-z+/_-]{10,}`, 4, 4, func(s string) string {
			b, _ := base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(s))
			return string(b)
		})})
}

// The checker finds each form, alone and in JSON in base64, and nothing where there is nothing.
func TestShowsCanary(t *testing.T) {
	t.Parallel()
	for name, text := range canaryForms() {
		inner, _ := json.Marshal(map[string]string{"k": text})
		for _, shown := range []string{text, "it is " + text + ".", string(inner), base64.StdEncoding.EncodeToString(inner)} {
			if showsCanary(shown) == "" {
				t.Errorf("%s is not found in %q", name, shown)
			}
		}
	}
	if how := showsCanary(`{"password":"(sensitive value)","digest":"sha256:4d78392676"}`); how != "" {
		t.Error(how)
	}
}
