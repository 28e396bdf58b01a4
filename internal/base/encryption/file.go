package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
)

const (
	magic    = "deployster encrypted "
	saltSize = 32
	maxHead  = 1 << 20 // a thousand recipients
)

// Head is the clear text at the beginning of a file, before the encrypted content.
type Head struct {
	Key  []byte `json:"key"`  // the data key, wrapped by age
	Salt []byte `json:"salt"` // of the file, from which its own key is derived
}

// Is reports whether data is an encrypted file, complete or not.
func Is(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }

// Encrypt returns the bytes of a file: encrypted, or unchanged if the keyring does not
// encrypt.
func (k *Keyring) Encrypt(kind Kind, plain []byte) ([]byte, error) {
	if !k.Encrypts() {
		return plain, nil
	}
	head, aead, err := k.begin(kind)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(line)+len(plain)+256)
	out = fmt.Appendf(out, "%s%s %d\n%s\n", magic, kind, Format, line)
	// Each file has a key of its own, so that the nonce may be constant.
	out = aead.Seal(out, make([]byte, aead.NonceSize()), plain, out)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// Open returns the content of a file that Encrypt made; it returns the data of a file
// that is not encrypted unchanged. The name is for messages.
func (k *Keyring) Open(kind Kind, name string, data []byte) ([]byte, error) {
	if !Is(data) {
		return data, nil
	}
	lines := bytes.SplitN(data[:min(len(data), maxHead)], []byte("\n"), 3)
	is, version, _ := bytes.Cut(bytes.TrimPrefix(lines[0], []byte(magic)), []byte(" "))
	format, err := strconv.Atoi(string(version))
	switch {
	case len(lines) < 3 || err != nil || format < 1:
		return nil, damaged(name, "its head is incomplete")
	case format > Format:
		return nil, refuse(ErrNewer, "Encrypted by a newer deployster",
			"%s has the format %d of encrypted files, and this deployster knows %d. Nothing was changed. Use the version that wrote it, "+
				"or a later one.", name, format, Format)
	}
	body := len(data) - sha256.Size
	head := len(lines[0]) + len(lines[1]) + 2
	if body < head || sha256.Sum256(data[:body]) != [sha256.Size]byte(data[body:]) {
		return nil, damaged(name, "the hash at its end does not fit")
	}
	if Kind(is) != kind {
		return nil, refuse(ErrKind, "An encrypted file of another kind", "%s is an encrypted %s, and not a %s. Nothing was changed.",
			name, printable(is), kind)
	}
	var h Head
	if err := strict(lines[1], &h); err != nil {
		return nil, damaged(name, "its head cannot be read")
	}
	aead, err := k.resume(kind, name, h)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), data[head:body], data[:head])
	if err != nil {
		return nil, damaged(name, "its content does not fit its key")
	}
	return plain, nil
}

// begin makes the head and the cipher of a new file.
func (k *Keyring) begin(kind Kind) (Head, cipher.AEAD, error) {
	k.mu.Lock()
	d, err := k.writing()
	k.mu.Unlock()
	if err != nil {
		return Head{}, nil, err
	}
	h := Head{Key: d.wrapped, Salt: make([]byte, saltSize)}
	rand.Read(h.Salt) // never returns an error: the program crashes instead
	aead, err := d.cipher(kind, h.Salt)
	return h, aead, err
}

// resume returns the cipher of an existing file.
func (k *Keyring) resume(kind Kind, name string, h Head) (cipher.AEAD, error) {
	if len(h.Salt) != saltSize || len(h.Key) == 0 {
		return nil, damaged(name, "its head cannot be read")
	}
	d, err := k.reading(name, h.Key)
	if err != nil {
		return nil, err
	}
	return d.cipher(kind, h.Salt)
}

// cipher derives the key of one file.
func (d *dataKey) cipher(kind Kind, salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, d.key, salt, "deployster "+string(kind)+" 1", keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// strict decodes a line that deployster wrote, all of whose keys must be known.
func strict(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return fmt.Errorf("more than one value")
	}
	return nil
}

// printable returns a word of a file for a message, if it has only small letters.
func printable(word []byte) string {
	for _, b := range word {
		if b < 'a' || b > 'z' {
			return "something else"
		}
	}
	return string(word)
}
