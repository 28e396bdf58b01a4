package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"deployster/internal/base/encryption"
	"deployster/state/lines"
	"deployster/state/place"
)

// keys are those of one user, as each process loads them anew.
type keys struct{ recipient, identity string }

func newKeys(t *testing.T) keys {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	ok(t, err)
	return keys{id.Recipient().String(), id.String()}
}

func (k keys) ring(mode encryption.Mode) *encryption.Keyring {
	return encryption.New(mode, func() (encryption.Keys, error) {
		return encryption.Keys{Recipients: []string{k.recipient}, Identities: []encryption.Identities{{Name: "key", Content: []byte(k.identity)}}}, nil
	})
}

func openWith(t *testing.T, path string, ring *encryption.Keyring) *Store {
	t.Helper()
	s, err := Open(t.Context(), File(path), Options{Keys: ring})
	ok(t, err)
	return s
}

const canary = "plum-canary"

// secretRun records a resource with a secret in it, and ends or dies.
func secretRun(t *testing.T, path string, ring *encryption.Keyring, dies bool) {
	t.Helper()
	s := openWith(t, path, ring)
	j := mustBegin(t, s, "plan")
	ok(t, j.ActionStarted(Start{Address: "a", Action: "make", Key: "k"}), j.Valid("a", entry(fmt.Sprintf(`{"s":%q}`, canary))))
	if !dies {
		ok(t, j.Finish(StatusOK))
	}
	ok(t, s.Close())
}

// below gives all files of a directory that hold a text.
func below(t *testing.T, dir, text string) (found []string, files int) {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*")
	ok(t, err)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			more, n := below(t, path, text)
			found, files = append(found, more...), files+n
			continue
		}
		data, err := os.ReadFile(path)
		ok(t, err)
		if files++; bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
	}
	return found, files
}

func TestEncryptedState_HidesItsSecrets(t *testing.T) {
	t.Parallel()
	mine := newKeys(t)
	path := filepath.Join(t.TempDir(), "s.json")
	secretRun(t, path, mine.ring(encryption.Encrypt), false)
	secretRun(t, path, mine.ring(encryption.AsFound), true) // nobody has to ask for it again
	if found, files := below(t, filepath.Dir(path), canary); len(found) > 0 || files < 4 {
		t.Fatalf("the secret is in %q, of %d files", found, files)
	}
	got, rec, err := Load(File(path), mine.ring(encryption.AsFound))
	ok(t, err)
	if rec == nil || len(rec.InFlight) != 1 || !strings.Contains(string(got.Resources["a"].State), canary) {
		t.Errorf("loaded %+v, %+v", got, rec)
	}
	// Without the key, and with another one, nothing is read and nothing changed.
	before := everything(t, filepath.Dir(path))
	for cause, ring := range map[error]*encryption.Keyring{encryption.ErrNoKey: nil, encryption.ErrWrongKey: newKeys(t).ring(encryption.Encrypt)} {
		_, _, err := Load(File(path), ring)
		refused(t, err, cause)
		_, err = Open(t.Context(), File(path), Options{Keys: ring})
		refused(t, err, cause)
		_, err = Restore(t.Context(), File(path), 1, Options{Keys: ring})
		refused(t, err, cause)
		copies, err := Copies(File(path), ring)
		if err != nil || len(copies) != 2 || copies[1].Err == nil || !copies[1].Encrypted {
			t.Errorf("copies: %+v, %v", copies, err)
		}
	}
	if after := everything(t, filepath.Dir(path)); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
	s := openWith(t, path, mine.ring(encryption.AsFound))
	if len(s.Recovery().InFlight) != 1 {
		t.Errorf("recovered %+v", s.Recovery())
	}
	ok(t, s.Close())
}

// everything is what is in a directory, but for the lock, which names its last holder.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	ok(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && filepath.Ext(path) != ".lock" {
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %x\n", path, data)
		}
		return err
	}))
	return b.String()
}

// Damage is told from a wrong key, whether there is a key or not.
func TestEncryptedState_DamageDiffersFromAWrongKey(t *testing.T) {
	t.Parallel()
	mine := newKeys(t)
	path := filepath.Join(t.TempDir(), "s.json")
	secretRun(t, path, mine.ring(encryption.Encrypt), true)
	file, err := os.ReadFile(path)
	ok(t, err)
	for _, n := range []int{0, 3, 40, len(file) / 2, len(file) - 1} {
		ok(t, os.WriteFile(path, file[:n], 0o600))
		for _, ring := range []*encryption.Keyring{nil, mine.ring(encryption.Encrypt)} {
			_, _, err := Load(File(path), ring)
			refused(t, err, ErrDamaged)
		}
	}
	ok(t, os.WriteFile(path, bytes.Replace(file, []byte("state 1\n"), []byte("state 2\n"), 1), 0o600))
	_, _, err = Load(File(path), mine.ring(encryption.Encrypt))
	refused(t, err, ErrNewer)
	ok(t, os.WriteFile(path, bytes.Replace(file, []byte("state 1\n"), []byte("plan 1\n"), 1), 0o600))
	if _, _, err = Load(File(path), mine.ring(encryption.Encrypt)); err == nil {
		t.Error("a plan served as a state")
	}
}

// An encrypted journal has the same torn tails and the same damages as one in
// clear text; beyond them, a record whose checksum was made to fit is refused.
func TestEncryptedJournal_RefusesForgedRecords(t *testing.T) {
	t.Parallel()
	mine := newKeys(t)
	path := filepath.Join(t.TempDir(), "s.json")
	s := openWith(t, path, mine.ring(encryption.Encrypt))
	j := mustBegin(t, s, "p")
	for i := range 4 {
		ok(t, j.Valid(fmt.Sprint("r", i), entry(`{}`)))
	}
	ok(t, s.Close())
	whole, err := os.ReadFile(path + ".journal")
	ok(t, err)
	load := func(journal []byte) (int, error) {
		ok(t, os.WriteFile(path+".journal", journal, 0o600))
		got, _, err := Load(File(path), mine.ring(encryption.AsFound))
		return len(got.Resources), err
	}
	for n := 0; n <= len(whole); n += 7 {
		want := max(bytes.Count(whole[:n], []byte("\n"))-1, 0)
		if got, err := load(whole[:n]); err != nil || got != want {
			t.Fatalf("cut at %d of %d: %d facts, want %d, %v", n, len(whole), got, want, err)
		}
	}
	records, _, err := decodeJournal(whole)
	ok(t, err)
	again := func(change func([]record)) []byte {
		list := append([]record(nil), records...)
		change(list)
		var out []byte
		prev := ""
		for _, r := range list {
			if r.Prev != "" || prev != "" {
				r.Prev = prev
			}
			body, err := json.Marshal(encryptedRecord{Seq: r.Seq, Prev: r.Prev, Durable: r.Durable, Head: r.Head, Encrypted: r.Encrypted})
			ok(t, err)
			line := lines.Frame(body)
			prev, out = lines.Hash(line[:len(line)-1]), append(out, line...)
		}
		return out
	}
	if got, err := load(again(func([]record) {})); err != nil || got != 4 {
		t.Fatalf("%d, %v", got, err)
	}
	for what, change := range map[string]func([]record){
		"a bit":   func(l []record) { l[2].Encrypted = append([]byte{l[2].Encrypted[0] ^ 1}, l[2].Encrypted[1:]...) },
		"swapped": func(l []record) { l[2].Encrypted, l[3].Encrypted = l[3].Encrypted, l[2].Encrypted },
		"durable": func(l []record) { l[3].Durable-- },
		"empty":   func(l []record) { l[4].Encrypted = nil },
		"salt": func(l []record) {
			h := *l[0].Head
			h.Salt = append([]byte{h.Salt[0] ^ 1}, h.Salt[1:]...)
			l[0].Head = &h
		},
		"key": func(l []record) { h := *l[0].Head; h.Key = h.Key[1:]; l[0].Head = &h },
	} {
		if _, err := load(again(change)); err == nil {
			t.Errorf("%s: taken", what)
		} else {
			refused(t, err, ErrDamaged)
		}
	}
	clear, err := recordLine(record{Seq: 6, Prev: lines.Hash(bytes.TrimSuffix(whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:], []byte("\n"))), Kind: kindRemoved, Address: "r0"})
	ok(t, err)
	_, err = load(append(bytes.Clone(whole), clear...))
	refused(t, err, ErrDamaged)
}

// Turning encryption on and off, and other keys, take effect with the next
// write; copies follow when they are asked to.
func TestEncryption_IsTurnedOnAndOff(t *testing.T) {
	t.Parallel()
	mine, other := newKeys(t), newKeys(t)
	path := filepath.Join(t.TempDir(), "s.json")
	recordRun(t, path, "a")
	recordRun(t, path, "b")
	if clear := place.Clear(File(path)); clear != nil {
		t.Errorf("in clear text, and said to be beside an encrypted state: %q", clear)
	}
	secretRun(t, path, mine.ring(encryption.Encrypt), false)
	if !isEncrypted(path) || len(place.Clear(File(path))) != 3 {
		t.Fatalf("turned on: %v, clear %q", isEncrypted(path), place.Clear(File(path)))
	}
	both := encryption.New(encryption.Encrypt, func() (encryption.Keys, error) {
		return encryption.Keys{Recipients: []string{other.recipient}, Identities: []encryption.Identities{{Content: []byte(mine.identity)}}}, nil
	})
	s := openWith(t, path, both)
	written, left, err := s.Reencrypt()
	if err != nil || len(written) != 5 || len(left) != 0 || len(place.Clear(File(path))) != 0 {
		t.Fatalf("written %q, left %v, %v, clear %q", written, left, err, place.Clear(File(path)))
	}
	ok(t, s.Close())
	_, _, err = Load(File(path), mine.ring(encryption.AsFound))
	refused(t, err, encryption.ErrWrongKey)
	copies, err := Copies(File(path), other.ring(encryption.AsFound))
	ok(t, err)
	for _, c := range copies {
		if c.Err != nil || !c.Encrypted {
			t.Errorf("copy %+v", c)
		}
	}
	before, _, err := Load(File(path), other.ring(encryption.AsFound))
	ok(t, err)
	s = openWith(t, path, other.ring(encryption.Decrypt))
	_, _, err = s.Reencrypt()
	ok(t, err, s.Close())
	after, _, err := Load(File(path))
	ok(t, err)
	if encoded(t, before) != encoded(t, after) {
		t.Errorf("was\n%s\nis\n%s", encoded(t, before), encoded(t, after))
	}
	// What cannot be read is left, and said.
	secretRun(t, path, mine.ring(encryption.Encrypt), false)
	secretRun(t, path, encryption.New(encryption.Decrypt, mineOnly(mine)), false)
	s = openWith(t, path, encryption.New(encryption.Decrypt, mineOnly(other)))
	_, left, err = s.Reencrypt()
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	ok(t, s.Close())
}

func mineOnly(k keys) func() (encryption.Keys, error) {
	return func() (encryption.Keys, error) {
		return encryption.Keys{Identities: []encryption.Identities{{Content: []byte(k.identity)}}}, nil
	}
}

// A record of a later version is no torn tail: it is never thrown away.
func TestRecordsOfALaterVersion_AreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	secretRun(t, path, nil, true)
	whole, err := os.ReadFile(path + ".journal")
	ok(t, err)
	ok(t, os.WriteFile(path+".journal", append(whole, lines.Frame([]byte(`{"seq":4,"new":true}`))...), 0o600))
	_, _, err = Load(File(path))
	refused(t, err, ErrNewer)
	_, err = Open(t.Context(), File(path), Options{})
	refused(t, err, ErrNewer)
}

func isEncrypted(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && encryption.Is(data)
}
