package exports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/state/content"
)

// Format is the version of what is published.
const Format = 1

// Document is what a state publishes: its exported outputs.
type Document struct {
	Lineage string                    `json:"lineage"`
	Serial  uint64                    `json:"serial"` // of the state
	Status  content.Status            `json:"status"` // of its last run
	Outputs map[string]content.Output `json:"outputs"`
}

// envelope is a Document as it is stored. Its lineage and serial can be read without a key.
type envelope struct {
	Format    int             `json:"format"`
	Lineage   string          `json:"lineage"`
	Serial    uint64          `json:"serial"`
	Sum       string          `json:"sum"` // the SHA-256 of the document, or of what is encrypted
	Document  json.RawMessage `json:"document,omitempty"`
	Encrypted []byte          `json:"encrypted,omitempty"`
}

// Of returns what a state publishes; false = it publishes nothing.
func Of(s content.Snapshot) (Document, bool) {
	if s.Exports == nil || s.ArrivesFrom != "" {
		return Document{}, false
	}
	d := Document{Lineage: s.Lineage, Serial: s.Serial, Status: content.StatusOK, Outputs: map[string]content.Output{}}
	if n := len(s.Applied); n > 0 {
		d.Status = s.Applied[n-1].Status
	}
	for name, o := range s.Outputs {
		if o.Export {
			d.Outputs[name] = content.Output{Value: o.Value, Sensitive: o.Sensitive}
		}
	}
	return d, true
}

// Encode returns the bytes to store. A nil keyring leaves them in clear text.
func (d Document) Encode(keys *encryption.Keyring) ([]byte, error) {
	body, err := jsondoc.Encode(d)
	if err != nil {
		return nil, err
	}
	stored, err := keys.Encrypt(encryption.Outputs, body)
	if err != nil {
		return nil, err
	}
	e := envelope{Format: Format, Lineage: d.Lineage, Serial: d.Serial, Sum: sum(stored)}
	if encryption.Is(stored) {
		e.Encrypted = stored
	} else {
		e.Document = stored
	}
	return jsondoc.Encode(e)
}

// Is reports whether stored bytes are of a version of a state. It needs no key.
func Is(data []byte, lineage string, serial uint64) bool {
	e, err := open(data)
	return err == nil && e.Lineage == lineage && e.Serial == serial
}

// Decode reads stored bytes. name is where they are, for messages.
func Decode(name string, data []byte, keys *encryption.Keyring) (Document, error) {
	var d Document
	e, err := open(data)
	switch {
	case errors.Is(err, content.ErrNewer):
		return d, diag.Because(err, "The outputs are of a newer deployster", "%s: %s. Use the version of deployster that wrote them, or a "+
			"later one.", name, err)
	case err != nil:
		return d, damaged(name, err)
	}
	body := []byte(e.Document)
	if e.Encrypted != nil {
		if body, err = keys.Open(encryption.Outputs, name, e.Encrypted); err != nil {
			return d, err
		}
	}
	if err := jsondoc.DecodeStrict(body, &d); err != nil {
		return Document{}, damaged(name, err)
	}
	if d.Lineage != e.Lineage || d.Serial != e.Serial {
		return Document{}, damaged(name, errors.New("it is of another version of the state than its envelope"))
	}
	return d, nil
}

// open reads what is stored, and checks that it is complete.
func open(data []byte) (envelope, error) {
	var e envelope
	var version struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(data, &version) == nil && version.Format > Format {
		return e, fmt.Errorf("%w: they have the format %d, and this deployster knows %d", content.ErrNewer, version.Format, Format)
	}
	if err := jsondoc.DecodeStrict(data, &e); err != nil {
		return e, err
	}
	stored := e.Encrypted
	if stored == nil {
		stored = e.Document
	}
	if e.Format != Format || (e.Encrypted == nil) == (e.Document == nil) || sum(stored) != e.Sum {
		return e, errors.New("the checksum does not match")
	}
	return e, nil
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

func damaged(name string, err error) error {
	return diag.Because(errors.Join(content.ErrDamaged, err), "The outputs of another state are damaged",
		"%s: %s. The next command that changes that state writes them again.", name, err)
}
