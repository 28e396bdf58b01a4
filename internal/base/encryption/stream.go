package encryption

import (
	"crypto/cipher"
	"encoding/binary"
)

// Stream encrypts the records of a file that grows, each by itself. What a record
// is bound to, and its number, are authenticated with it, so that none can be
// lost, doubled or moved. The file's owner keeps the head and the order.
type Stream struct {
	head Head
	aead cipher.AEAD
}

// NewStream begins a file; nil = it is written in clear text.
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

// OpenStream goes on with a file that is there. The name is for messages.
func (k *Keyring) OpenStream(kind Kind, name string, h Head) (*Stream, error) {
	aead, err := k.resume(kind, name, h)
	if err != nil {
		return nil, err
	}
	return &Stream{h, aead}, nil
}

// Head is what must stand in clear in the file.
func (s *Stream) Head() Head { return s.head }

// Encrypt encrypts the record number n, which must never be encrypted a second time with
// other content.
func (s *Stream) Encrypt(n uint64, bound string, plain []byte) []byte {
	return s.aead.Seal(nil, s.nonce(n), plain, []byte(bound))
}

// Open opens the record number n, and refuses one that is not what was encrypted.
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
