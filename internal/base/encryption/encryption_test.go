package encryption

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"os"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"deployster/internal/base/diag"
)

// ring is a keyring whose passphrases cost little.
func ring(mode Mode, keys Keys) *Keyring {
	k := New(mode, func() (Keys, error) { return keys, nil })
	k.cost = 10
	return k
}

// pair is a new key pair of age.
func pair(t *testing.T) (recipient string, identity Identities) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String(), Identities{"key.txt", []byte("# a comment\n" + id.String() + "\n")}
}

// sshPair is a new key pair of ssh.
func sshPair(t *testing.T) (recipient string, identity Identities) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(ssh.MarshalAuthorizedKey(key)), Identities{"id_ed25519", pem.EncodeToMemory(block)}
}

func encryptedBy(t *testing.T, k *Keyring, kind Kind, plain string) []byte {
	t.Helper()
	data, err := k.Encrypt(kind, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// refused checks that an error has its cause, and words for the user.
func refused(t *testing.T, err, cause error) {
	t.Helper()
	var d *diag.Diagnostic
	if !errors.Is(err, cause) || !errors.As(err, &d) || len(d.Detail) < 30 {
		t.Errorf("got %v, want a diagnostic of %v", err, cause)
	}
}

func TestKeyring_FilesComeBackWithTheirKeys(t *testing.T) {
	t.Parallel()
	ageTo, ageKey := pair(t)
	sshTo, sshKey := sshPair(t)
	pass := Keys{Passphrases: []string{"long enough", "older"}}
	for name, c := range map[string]struct{ write, read Keys }{
		"passphrase":                    {pass, pass},
		"old passphrase":                {Keys{Passphrases: []string{"the former"}}, Keys{Passphrases: []string{"the new one", "the former"}}},
		"age":                           {Keys{Recipients: []string{ageTo}}, Keys{Identities: []Identities{ageKey}}},
		"ssh":                           {Keys{Recipients: []string{sshTo}}, Keys{Identities: []Identities{ageKey, sshKey}}},
		"several":                       {Keys{Recipients: []string{sshTo, ageTo}}, Keys{Identities: []Identities{ageKey}}},
		"from passphrase to recipients": {pass, Keys{Recipients: []string{ageTo}, Passphrases: []string{"long enough"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := encryptedBy(t, ring(Encrypt, c.write), State, "the secret content")
			if bytes.Contains(file, []byte("secret content")) || !Is(file) {
				t.Fatalf("not encrypted: %q", file)
			}
			plain, err := ring(Encrypt, c.read).Open(State, "s", file)
			if err != nil || string(plain) != "the secret content" {
				t.Errorf("got %q, %v", plain, err)
			}
			if again := encryptedBy(t, ring(Encrypt, c.write), State, "the secret content"); bytes.Equal(again, file) {
				t.Error("two files of one content are the same bytes")
			}
		})
	}
}

func TestKeyring_ThreeWaysToFail(t *testing.T) {
	t.Parallel()
	to, key := pair(t)
	_, other := pair(t)
	forPair := encryptedBy(t, ring(Encrypt, Keys{Recipients: []string{to}}), State, "x")
	withWord := encryptedBy(t, ring(Encrypt, Keys{Passphrases: []string{"long enough"}}), State, "x")
	open := func(k *Keyring, file []byte) error {
		plain, err := k.Open(State, "the file", file)
		if plain != nil {
			t.Errorf("%q came out", plain)
		}
		return err
	}
	refused(t, open(nil, forPair), ErrNoKey)
	refused(t, open(ring(AsFound, Keys{}), forPair), ErrNoKey)
	refused(t, open(ring(AsFound, Keys{}), withWord), ErrNoKey)
	refused(t, open(ring(AsFound, Keys{Passphrases: []string{"long enough"}}), forPair), ErrNoKey)
	refused(t, open(ring(AsFound, Keys{Identities: []Identities{key}}), withWord), ErrNoKey)
	refused(t, open(ring(AsFound, Keys{Identities: []Identities{other}}), forPair), ErrWrongKey)
	refused(t, open(ring(AsFound, Keys{Passphrases: []string{"another one"}}), withWord), ErrWrongKey)
	refused(t, open(ring(AsFound, Keys{Identities: []Identities{{"k", []byte("nonsense")}}}), forPair), ErrNoKey)
	refused(t, open(ring(Encrypt, Keys{Identities: []Identities{key}}), bytes.Replace(forPair, []byte("state 1"), []byte("state 2"), 1)), ErrNewer)
	if plain, err := ring(AsFound, Keys{}).Open(State, "s", []byte("clear")); err != nil || string(plain) != "clear" {
		t.Errorf("clear text: %q, %v", plain, err)
	}
	_, err := ring(AsFound, Keys{Identities: []Identities{key}}).Open(Plan, "p", forPair)
	refused(t, err, ErrKind)
	_, err = ring(Encrypt, Keys{}).Encrypt(State, nil)
	refused(t, err, ErrNoKey)
	_, err = ring(Encrypt, Keys{Passphrases: []string{"short"}}).Encrypt(State, nil)
	refused(t, err, ErrNoKey)
	asked := errors.New("the file is not there")
	if err := open(New(AsFound, func() (Keys, error) { return Keys{}, asked }), forPair); !errors.Is(err, asked) {
		t.Errorf("got %v", err)
	}
}

// Every bit counts, also for who can make the hash at the end fit again, and
// every length is told to be damage and not a wrong key.
func TestKeyring_EveryBitOfAFileCounts(t *testing.T) {
	t.Parallel()
	to, key := pair(t)
	file := encryptedBy(t, ring(Encrypt, Keys{Recipients: []string{to}}), State, "content")
	k := ring(AsFound, Keys{Identities: []Identities{key}})
	if _, err := k.Open(State, "s", file); err != nil {
		t.Fatal(err)
	}
	body := len(file) - sha256.Size
	for i := range file {
		for bit := range 8 {
			file[i] ^= 1 << bit
			if plain, err := k.Open(State, "s", file); err == nil && Is(file) || plain != nil && Is(file) {
				t.Fatalf("byte %d, bit %d: %q", i, bit, plain)
			}
			if i < body {
				sum := sha256.Sum256(file[:body])
				if plain, err := k.Open(State, "s", append(bytes.Clone(file[:body]), sum[:]...)); (err == nil || plain != nil) && Is(file) {
					t.Fatalf("byte %d, bit %d, hash made to fit: %q", i, bit, plain)
				}
			}
			file[i] ^= 1 << bit
		}
		if i >= len(magic) {
			_, err := k.Open(State, "s", file[:i])
			refused(t, err, ErrDamaged)
		}
	}
	_, err := k.Open(State, "s", append(bytes.Clone(file), 0))
	refused(t, err, ErrDamaged)
}

// A passphrase costs a second, so it is used once in a process.
func TestKeyring_OneKeyForAllFilesOfAProcess(t *testing.T) {
	t.Parallel()
	head := func(file []byte) string { return strings.Split(string(file), `"`)[3] }
	pass := Keys{Passphrases: []string{"long enough"}}
	state := encryptedBy(t, ring(Encrypt, pass), State, "x")
	for _, mode := range []Mode{AsFound, Encrypt} {
		k := ring(mode, pass)
		if _, err := k.Open(State, "s", state); err != nil {
			t.Fatal(err)
		}
		plan := encryptedBy(t, k, Plan, "x")
		if head(plan) != head(state) {
			t.Errorf("mode %d: the key was made anew", mode)
		}
		k.Use(mode, func() (Keys, error) { return Keys{}, nil }) // from here on nothing can be derived
		if _, err := k.Open(Plan, "p", plan); err != nil {
			t.Error(err)
		}
	}
	// Other keys than the file's are other keys.
	k := ring(Encrypt, Keys{Passphrases: []string{"the new one", "long enough"}})
	if _, err := k.Open(State, "s", state); err != nil {
		t.Fatal(err)
	}
	_, err := ring(AsFound, pass).Open(State, "s", encryptedBy(t, k, State, "y"))
	refused(t, err, ErrWrongKey)
}

func TestModes_FollowTheFileOrTheRequest(t *testing.T) {
	t.Parallel()
	pass := Keys{Passphrases: []string{"long enough"}}
	state := encryptedBy(t, ring(Encrypt, pass), State, "x")
	found := ring(AsFound, pass)
	if found.Encrypts() || Is(encryptedBy(t, found, Plan, "p")) {
		t.Error("encrypted though nobody asked for it")
	}
	if _, err := found.Open(State, "s", state); err != nil || !found.Encrypts() || !Is(encryptedBy(t, found, State, "p")) {
		t.Errorf("decrypted though nobody asked for it: %v", err)
	}
	off := ring(Decrypt, pass)
	if _, err := off.Open(State, "s", state); err != nil || off.Encrypts() || Is(encryptedBy(t, off, State, "p")) {
		t.Errorf("still encrypted: %v", err)
	}
	var none *Keyring
	if none.Encrypts() || none.Ready() != nil || Is(encryptedBy(t, none, State, "p")) {
		t.Error("no keyring encrypts")
	}
	refused(t, ring(Encrypt, Keys{}).Ready(), ErrNoKey)
	if err := ring(Encrypt, pass).Ready(); err != nil {
		t.Error(err)
	}
}

func TestStreams_RefuseMovedRecords(t *testing.T) {
	t.Parallel()
	to, key := pair(t)
	write, err := ring(Encrypt, Keys{Recipients: []string{to}}).NewStream(Journal)
	if err != nil {
		t.Fatal(err)
	}
	one, two := write.Encrypt(1, "a", []byte("first")), write.Encrypt(2, "b", []byte("second"))
	read, err := ring(AsFound, Keys{Identities: []Identities{key}}).OpenStream(Journal, "j", write.Head())
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := read.Open(2, "b", two); err != nil || string(plain) != "second" {
		t.Errorf("%q, %v", plain, err)
	}
	for what, open := range map[string]func() ([]byte, error){
		"another place": func() ([]byte, error) { return read.Open(2, "b", one) },
		"another bond":  func() ([]byte, error) { return read.Open(1, "b", one) },
		"a bit":         func() ([]byte, error) { one[3] ^= 4; defer func() { one[3] ^= 4 }(); return read.Open(1, "a", one) },
		"cut off":       func() ([]byte, error) { return read.Open(1, "a", one[:len(one)-1]) },
	} {
		if plain, err := open(); !errors.Is(err, ErrDamaged) || plain != nil {
			t.Errorf("%s: %q, %v", what, plain, err)
		}
	}
	if s, err := ring(AsFound, Keys{}).NewStream(Journal); s != nil || err != nil {
		t.Errorf("clear text: %v, %v", s, err)
	}
	_, err = ring(AsFound, Keys{}).OpenStream(Journal, "j", write.Head())
	refused(t, err, ErrNoKey)
}

// nopCloser is a file in memory.
type nopCloser struct{ bytes.Buffer }

func (*nopCloser) Close() error { return nil }

func TestLines_AreReadUpToAnIncompleteOne(t *testing.T) {
	t.Parallel()
	pass := Keys{Passphrases: []string{"long enough"}}
	for _, mode := range []Mode{Encrypt, Decrypt} {
		var file nopCloser
		w, err := ring(mode, pass).Lines(Record, &file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"one\n", "two\nthree\n"} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Close(); err != nil || bytes.Contains(file.Bytes(), []byte("two\nthree")) != (mode == Decrypt) {
			t.Errorf("%q, %v", file.Bytes(), err)
		}
		reader := ring(mode, pass)
		if got, err := reader.OpenLines(Record, "f", file.Bytes()); err != nil || string(got) != "one\ntwo\nthree\n" {
			t.Errorf("%q, %v", got, err)
		}
		if mode == Decrypt {
			continue
		}
		if got, err := reader.OpenLines(Record, "f", file.Bytes()[:file.Len()-5]); err != nil || string(got) != "one\n" {
			t.Errorf("half a line: %q, %v", got, err)
		}
		spoiled := bytes.Clone(file.Bytes())
		spoiled[len(spoiled)-9] ^= 1
		_, err = reader.OpenLines(Record, "f", spoiled)
		refused(t, err, ErrDamaged)
		_, err = reader.OpenLines(Plan, "f", file.Bytes())
		refused(t, err, ErrKind)
		_, err = reader.Open(Record, "f", file.Bytes())
		refused(t, err, ErrDamaged)
		_, err = ring(AsFound, Keys{}).OpenLines(Record, "f", file.Bytes())
		refused(t, err, ErrNoKey)
	}
}

func TestKeys_RecipientsAndIdentities(t *testing.T) {
	t.Parallel()
	to, key := pair(t)
	for text, want := range map[string]string{
		to: "", "  " + to + "\n": "", "ssh-ed25519 nonsense": "SSH", "age1nonsense": "plugins", "me@example.com": "neither",
		strings.Split(string(key.Content), "\n")[1]: "must never be written here", "": "neither",
	} {
		err := CheckRecipient(text)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "AGE-SECRET-KEY-1")) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("word"))
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		"": "no identities", "AGE-SECRET-KEY-1NONSENSE": "neither", "age-encryption.org/v1\n": "itself encrypted",
		string(pem.EncodeToMemory(locked)): "has a passphrase", "-----BEGIN CERTIFICATE-----\n": "usable private key of ssh",
	} {
		if _, err := (Identities{"f", []byte(content)}).parse(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// TestFormat_IsPinned: a file of format 1, written when there was no other, is
// read for ever. A change of the format needs another number.
func TestFormat_IsPinned(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/format-1.encrypted")
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile("testdata/format-1.key")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ring(AsFound, Keys{Identities: []Identities{{"format-1.key", key}}}).Open(State, "format-1.encrypted", file)
	if err != nil || string(plain) != "pinned\n" {
		t.Errorf("%q, %v", plain, err)
	}
}
