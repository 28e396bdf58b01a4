package config

import (
	"reflect"
	"testing"
)

func TestEncryption_ReadsItsBlock(t *testing.T) {
	t.Parallel()
	const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	for text, want := range map[string]*Encryption{
		`deployster {}`: nil,
		`deployster {
  encryption {}
}`: {Enabled: true},
		`deployster { state = "x" }
deployster {
  encryption {
    enabled             = false
    passphrase_env      = "P"
    old_passphrase_file = "f"
    recipients          = ["` + recipient + `"]
    identity_files      = split(":", "a:~/b")
  }
}`: {PassphraseEnv: "P", OldPassphraseFile: "f", Recipients: []string{recipient}, IdentityFiles: []string{"a", "~/b"}},
	} {
		m, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil, Builtins{Version: "0.1.0", Home: "/h"})
		if got := m.Settings().Encryption; len(diags) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot %+v, %v", text, got, diags)
		}
	}
}
