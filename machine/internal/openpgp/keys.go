package openpgp

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// Header begins the text of a key.
	Header = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
	footer = "-----END PGP PUBLIC KEY BLOCK-----"
)

// The kinds of packets and subpackets that are read.
const (
	signaturePacket = 2
	keyPacket       = 6
	keyLifetime     = 9
)

// Armoured returns a key as text: what is fetched may be binary.
func Armoured(data []byte) (string, error) {
	if text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r", "")); strings.HasPrefix(text, Header) {
		_, err := Ends(text)
		return text, err
	}
	if _, err := BinaryEnds(data); err != nil {
		return "", err
	}
	encoded := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	b.WriteString(Header + "\n\n")
	for len(encoded) > 0 {
		n := min(64, len(encoded))
		b.WriteString(encoded[:n] + "\n")
		encoded = encoded[n:]
	}
	b.WriteString(footer)
	return b.String(), nil
}

// Ends returns when each key of a text ends; the zero time = never.
func Ends(text string) (ends []time.Time, err error) {
	rest, found := text, false
	for {
		var inside string
		if _, inside, found = strings.Cut(rest, Header); !found {
			break
		}
		if inside, rest, found = strings.Cut(inside, footer); !found {
			return nil, errors.New("its last line is missing: " + footer)
		}
		_, body, found := strings.Cut(strings.ReplaceAll(inside, "\r", ""), "\n\n") // after headers such as Version:
		if !found {
			return nil, errors.New("the empty line before the text of the key is missing")
		}
		var encoded strings.Builder
		for line := range strings.Lines(body) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "=") { // a checksum
				encoded.WriteString(line)
			}
		}
		data, err := base64.StdEncoding.DecodeString(encoded.String())
		if err != nil {
			return nil, err
		}
		more, err := BinaryEnds(data)
		if err != nil {
			return nil, err
		}
		ends = append(ends, more...)
	}
	if len(ends) == 0 {
		return nil, errors.New("it holds no key")
	}
	return ends, nil
}

// BinaryEnds returns when each key among packets ends: its creation and the longest lifetime that a
// signature directly after it gives.
func BinaryEnds(data []byte) (ends []time.Time, err error) {
	var created time.Time
	primary := false
	for len(data) > 0 {
		kind, body, rest, err := packet(data)
		if err != nil {
			return nil, err
		}
		data = rest
		switch {
		case kind == keyPacket:
			if len(body) < 6 || body[0] < 4 {
				return nil, errors.New("its key is of a version that is not supported")
			}
			created = time.Unix(int64(binary.BigEndian.Uint32(body[1:5])), 0)
			primary = true
			ends = append(ends, time.Time{})
		case kind == 14: // a subkey: the signatures that follow are its own
			primary = false
		case kind == signaturePacket && primary && len(ends) > 0:
			if life := lifetime(body); life > 0 {
				if end := created.Add(life); end.After(ends[len(ends)-1]) {
					ends[len(ends)-1] = end
				}
			}
		case len(ends) == 0:
			return nil, fmt.Errorf("it begins with a packet of kind %d, not with a public key", kind)
		}
	}
	if len(ends) == 0 {
		return nil, errors.New("it holds no key")
	}
	return ends, nil
}

var errCut = errors.New("it is cut off")

// packet returns the first packet of data.
func packet(data []byte) (kind int, body, rest []byte, err error) {
	if data[0]&0x80 == 0 {
		return 0, nil, nil, errors.New("it is not made of packets")
	}
	if data[0]&0x40 != 0 {
		n, used, ok := length(data[1:])
		if !ok || len(data) < 1+used+n {
			return 0, nil, nil, errCut
		}
		return int(data[0] & 0x3f), data[1+used : 1+used+n], data[1+used+n:], nil
	}
	size := 1 << (data[0] & 3) // of the length, in the old form
	if size == 8 || len(data) < 1+size {
		return 0, nil, nil, errCut
	}
	n := 0
	for _, b := range data[1 : 1+size] {
		n = n<<8 | int(b)
	}
	if n < 0 || len(data) < 1+size+n {
		return 0, nil, nil, errCut
	}
	return int(data[0] >> 2 & 0xf), data[1+size : 1+size+n], data[1+size+n:], nil
}

// length reads a length in the new form; used is how many bytes it has.
func length(data []byte) (n, used int, ok bool) {
	switch {
	case len(data) > 0 && data[0] < 192:
		return int(data[0]), 1, true
	case len(data) > 1 && data[0] < 224:
		return (int(data[0])-192)<<8 + int(data[1]) + 192, 2, true
	case len(data) > 4 && data[0] == 255:
		return int(binary.BigEndian.Uint32(data[1:])), 5, true
	}
	return 0, 0, false
}

// lifetime returns how long a key lasts by a signature of version 4 or later; 0 = it does not declare that.
func lifetime(body []byte) time.Duration {
	if len(body) < 6 || body[0] != 4 {
		return 0
	}
	n := int(binary.BigEndian.Uint16(body[4:6]))
	if len(body) < 6+n {
		return 0
	}
	for data := body[6 : 6+n]; len(data) > 0; {
		size, used, ok := length(data)
		if !ok || size == 0 || len(data) < used+size {
			return 0
		}
		if data[used]&0x7f == keyLifetime && size == 5 {
			return time.Duration(binary.BigEndian.Uint32(data[used+1:])) * time.Second
		}
		data = data[used+size:]
	}
	return 0
}
