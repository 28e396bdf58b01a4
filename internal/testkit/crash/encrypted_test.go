//go:build linux && amd64

package crash_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"deployster/internal/base/encryption"
)

// newIdentity is a key for the files of a subject.
func newIdentity(t *testing.T) string {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// ring has one key; none for files in clear text.
func ring(identity string) *encryption.Keyring {
	if identity == "" {
		return nil
	}
	return encryption.New(encryption.Encrypt, func() (encryption.Keys, error) {
		id, err := age.ParseX25519Identity(identity)
		if err != nil {
			return encryption.Keys{}, err
		}
		return encryption.Keys{Recipients: []string{id.Recipient().String()},
			Identities: []encryption.Identities{{Name: "key", Content: []byte(identity)}}}, nil
	})
}

// texts are the state file and the journal in clear text, read here so that the
// tool does not judge itself. Either may not be there.
func (a *arena) texts() (file, journal []byte) {
	a.t.Helper()
	file, _ = os.ReadFile(filepath.Join(a.dir, "state.json"))
	journal, _ = os.ReadFile(filepath.Join(a.dir, "state.json.journal"))
	if a.identity == "" {
		return file, journal
	}
	keys := ring(a.identity)
	if len(file) > 0 {
		plain, err := keys.Open(encryption.State, "state.json", file)
		if err != nil {
			a.t.Fatal(err)
		}
		file = plain
	}
	var stream *encryption.Stream
	var out []byte
	for line := range bytes.Lines(journal) {
		sum, body, _ := bytes.Cut(line, []byte(" "))
		var r struct {
			Seq, Durable uint64
			Prev         string
			Head         *encryption.Head
			Encrypted    []byte
		}
		if json.Unmarshal(body, &r) != nil {
			break // the torn tail
		}
		var err error
		if stream == nil {
			stream, err = keys.OpenStream(encryption.Journal, "state.json.journal", *r.Head)
		}
		if err == nil {
			body, err = stream.Open(r.Seq, fmt.Sprintf("%s %d", r.Prev, r.Durable), r.Encrypted)
		}
		if err != nil {
			a.t.Fatal(err)
		}
		out = fmt.Appendf(out, "%s %s\n", sum, body)
	}
	return file, out
}

// readable are the files of a subject with a key that hold in clear text what
// every state and every journal says.
func (a *arena) readable() (out []string) {
	a.t.Helper()
	if a.identity == "" {
		return nil
	}
	err := filepath.WalkDir(a.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || path == a.log {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(`"lineage"`)) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}
