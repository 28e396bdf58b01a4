package imagefiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// shells are those that the script must work in, with the awk that comes along.
var shells = [][]string{{"/bin/busybox", "sh"}, {"/bin/sh"}}

// sh runs a script with json in its path.
func sh(t *testing.T, shell []string, script, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	dir := t.TempDir()
	// A child that another test starts meanwhile would have the file open for
	// writing, and what is open for writing cannot be run.
	syscall.ForkLock.RLock()
	err = os.WriteFile(filepath.Join(dir, "json"), jsonScript, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell[0], append(append(shell[1:len(shell):len(shell)], "-c", script, "script"), args...)...)
	cmd.Env = []string{"PATH=" + dir + ":/bin:/usr/bin"}
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &log
	err = cmd.Run()
	return out.String(), log.String(), err
}

func TestJSONInShell_BecomesVariables(t *testing.T) {
	t.Parallel()
	const doc = `{"name":"a","config":{"tags":["x",{"k":1},"z"],"on":true,"n":null,"a-b c":"dash","it's":"quote","e":{},"l":[]},"z":1.50,"9":"digit"}` + "\n"
	for _, shell := range shells {
		for expr, want := range map[string]string{
			"$name": "a", "$config_tags": `["x",{"k":1},"z"]`, "$config_tags_count": "3", "$config_tags_0": "x", "$config_tags_1_k": "1", "$config_tags_2": "z",
			"$config_on": "true", "${config_n-unset}": "", "$config_a_b_c": "dash", "$config_it_s": "quote", "$config_e": "{}", "$config_l_count": "0",
			"$z": "1.50", "${config_none-unset}": "unset", "$_9": "digit", "$config_tags_1": `{"k":1}`,
		} {
			got, log, err := sh(t, shell, `eval "$(json)"; printf %s "`+expr+`"`, doc)
			if err != nil || got != want || log != "" {
				t.Errorf("%v %s: %q, want %q; %v %s", shell, expr, got, want, err, log)
			}
		}
	}
}

// text makes a string that is hard on shells and on JSON.
func text(r *rand.Rand) string {
	hard := []string{"'", `"`, `\`, "\\\\", "\n", "\t", "\r", "\x01", "\x1f", "\x7f", "$x", "`id`", "é", "😀", "\u2028", "{", "}", ",", ":", "[", " ", "a", "*", "\b", "\f", "/", "\\u0041", "\\n", "%s", "&", "#", "-n"}
	var b strings.Builder
	for range r.Intn(12) {
		b.WriteString(hard[r.Intn(len(hard))])
	}
	return b.String()
}

// Whatever text is sent comes out in the variable, and as JSON again.
func TestJSONInShell_KeepsText(t *testing.T) {
	t.Parallel()
	const rounds = 60
	r := rand.New(rand.NewSource(7))
	for i := range rounds {
		want := text(r)
		value, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // half of them with everything escaped
			value = escaped(want)
		}
		doc := fmt.Sprintf(`{"before":"x","config":{"list":[%s,"after"],"text":%s},"intent":"present"}`, value, value)
		for _, shell := range shells {
			got, log, err := sh(t, shell, `eval "$(json)"; printf %s "$config_text|$config_list_0|$config_list_1|$intent|"; json -q "$config_text"`, doc)
			text, encoded, _ := strings.Cut(got, want+"|"+want+"|after|present|")
			var back string
			if jerr := json.Unmarshal([]byte(encoded), &back); err != nil || text != "" || jerr != nil || back != want || log != "" {
				t.Errorf("%v: %s became %q; %v %v %s", shell, doc, got, err, jerr, log)
			}
		}
	}
}

// A text may be longer than an argument of a program. Each of its many pieces takes a
// moment, and no more than the one before.
func TestJSONInShell_KeepsLongText(t *testing.T) {
	t.Parallel()
	want := strings.Repeat("it's a \"line\" \\ \n", 9000) + "\n"
	doc, err := json.Marshal(map[string]any{"config": map[string]string{"text": want}})
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells {
		got, log, err := sh(t, shell, `eval "$(json)"; printf %s "$config_text" | json -q`, string(doc))
		var back string
		if jerr := json.Unmarshal([]byte(got), &back); err != nil || jerr != nil || back != want || log != "" {
			t.Errorf("%v: %d bytes became %d; %v %v %s", shell, len(want), len(back), err, jerr, log)
		}
	}
}

// escaped writes a string with nothing but \u.
func escaped(s string) []byte {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, r := range s {
		if r > 0xffff {
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')
	return b.Bytes()
}

// What is no JSON ends the script that evaluates it, with a reason.
func TestJSONInShell_Refuses(t *testing.T) {
	t.Parallel()
	for in, reason := range map[string]string{
		"": "nothing", "{": "too early", "[]": "a list", `{"a":"x`: "does not end", "{} {}": "something follows", `"x"`: "stands alone", "7": "too early",
		`{"a":"\u0000"}`: "zero byte", "}": "too many", `{"a":` + strings.Repeat("[", 200): "deep", `{"a":"\"`: "does not end",
	} {
		for _, shell := range shells {
			out, log, err := sh(t, shell, `eval "$(json)"; echo still here`, in)
			if err == nil || out != "" || !strings.Contains(log, reason) {
				t.Errorf("%v %q: %q %q %v", shell, in, out, log, err)
			}
		}
	}
}
