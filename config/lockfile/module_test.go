package lockfile

import (
	"maps"
	"strings"
	"testing"
)

func TestModule_ComesBackAsWritten(t *testing.T) {
	pins := map[string]Module{
		"oci://127.0.0.1:5000/acme/web:1":                {Digest: digestA, Tree: strings.Repeat("b", 64)},
		"git::https://git.example.com/mods.git?ref=v1.0": {Commit: strings.Repeat("c", 40), Tree: strings.Repeat("d", 40)},
	}
	back, diags := Parse((&Lock{Modules: pins}).Bytes())
	if diags.HasErrors() || !maps.Equal(back.Modules, pins) {
		t.Fatalf("%v %v", back, diags)
	}
	if at := back.At["module.oci://127.0.0.1:5000/acme/web:1"].String(); at != Name+":10" {
		t.Errorf("at %s", at)
	}
}

func TestModule_RefusesABrokenPin(t *testing.T) {
	hash := strings.Repeat("a", 40)
	block := func(body string) string { return "module \"git::https://a/b\" {\n" + body + "\n}\n" }
	for text, want := range map[string]string{
		block(`commit = "` + hash + `"`):                                                         "tree",
		block(`tree = "` + hash + `"`):                                                           "either the digest of an image or the commit",
		block("commit = \"v1\"\ntree = \"" + hash + `"`):                                         "The commit of a pin is a hash",
		block("commit = \"" + hash + "\"\ntree = upper(\"x\")"):                                  "The tree of a pin is a hash",
		block("digest = \"sha256:12\"\ntree = \"" + hash + `"`):                                  "The digest of a pin is a hash",
		block("digest = \"" + digestA + "\"\ncommit = \"" + hash + "\"\ntree = \"" + hash + `"`): "either the digest",
		block("commit = \"" + hash + "\"\ntree = \"" + hash + "\"\nuntil = 1"):                   "of a newer deployster",
		strings.Repeat(block("commit = \""+hash+"\"\ntree = \""+hash+`"`), 2):                    "Pinned twice",
	} {
		if l, diags := Parse([]byte(text)); l != nil || !diags.HasErrors() || diags[0].Range == nil || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v %v", text, l, diags)
		}
	}
}
