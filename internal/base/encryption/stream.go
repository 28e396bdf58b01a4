package encryption

import (
	"crypto/cipher"
	"encoding/binary"
)

// Stream encrypts the records of a file that grows, each separately. Each record is
// authenticated with its number and the text it is bound to, so that none can be lost,
// doubled or moved unnoticed. The caller stores the head and the order.
type Stream struct {
	head Head
	aead cipher.AEAD
}

// NewStream begins a file; it returns nil if the keyring does not encrypt.
func (k *Keyring) NewStream(kind Kind) (*Stream, error) {
	if !k.Encrypts() {
		return nil, nil
	}
	head, aead, err := k.begin(kind)
	if err != nil {
		return nil, err
	}
	return &Stream{head, aead}, nil
}

// OpenStream continues an existing file. The name is for messages.
func (k *Keyring) OpenStream(kind Kind, name string, h Head) (*Stream, error) {
	aead, err := k.resume(kind, name, h)
	if err != nil {
		return nil, err
	}
	return &Stream{h, aead}, nil
}

// Head returns the head, which must be stored in the file in clear text.
func (s *Stream) Head() Head { return s.head }

// Encrypt encrypts record n. A number must never be used a second time for other content.
func (s *Stream) Encrypt(n uint64, bound string, plain []byte) []byte {
	return s.aead.Seal(nil, s.nonce(n), plain, []byte(bound))
}

// Open decrypts record n, and refuses data that Encrypt did not make of it.
func (s *Stream) Open(n uint64, bound string, data []byte) ([]byte, error) {
	plain, err := s.aead.Open(nil, s.nonce(n), data, []byte(bound))
	if err != nil {
		return nil, ErrDamaged
	}
	return plain, nil
}

func (s *Stream) nonce(n uint64) []byte {
	nonce := make([]byte, s.aead.NonceSize())
	binary.BigEndian.PutUint64(nonce[len(nonce)-8:], n)
	return nonce
}
