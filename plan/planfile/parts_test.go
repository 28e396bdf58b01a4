package planfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/plan"
)

// part is an entry of a plan file.
type part struct {
	name    string
	content []byte
}

// partsOf takes a plan file apart.
func partsOf(t *testing.T, file []byte) (out []part, comment string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, part{f.Name, content})
	}
	return out, z.Comment
}

// assembled puts a plan file together, as any zip program could, and keeps the
// comment, with the checksum and the signature.
func assembled(t *testing.T, list []part, comment string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, p := range list {
		w, err := z.Create(p.name)
		if err == nil {
			_, err = w.Write(p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.SetComment(comment); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// reassembled are all the ways in which the parts of a file can be exchanged,
// left out, doubled, renamed and joined by others. Those that only exchange what
// stands in two sources still hang together.
func reassembled(list []part) (apart, together map[string][]part) {
	apart, together = map[string][]part{}, map[string][]part{}
	for i, p := range list {
		apart["without "+p.name] = slices.Delete(slices.Clone(list), i, i+1)
		apart["twice "+p.name] = append(slices.Clone(list), p)
		apart["a second "+p.name] = append(slices.Clone(list), part{p.name, []byte("other")})
		renamed := slices.Clone(list)
		renamed[i].name += "x"
		apart["renamed "+p.name] = renamed
		for j := range i {
			swapped := slices.Clone(list)
			swapped[i].content, swapped[j].content = list[j].content, list[i].content
			what := fmt.Sprintf("%s and %s exchanged", list[j].name, p.name)
			if bytes.Equal(list[i].content, list[j].content) {
				continue
			}
			if j < 2 { // plan.json or sources.json
				apart[what] = swapped
			} else {
				together[what] = swapped
			}
		}
	}
	apart["more"] = append(slices.Clone(list), part{"sources/more", []byte("x")})
	apart["a directory"] = append(slices.Clone(list), part{"sources/", nil})
	apart["up"] = append(slices.Clone(list), part{"../up", []byte("x")})
	together["as it was"] = list
	return apart, together
}

// Whatever is done to the parts of a plan file, it is refused: by the checksum; when
// that is made to fit, because the parts do not belong together; and what still
// hangs together is not signed any more.
func TestParts_CannotBeExchanged(t *testing.T) {
	t.Parallel()
	key := testKey(1)
	file := signed(t, samplePlan(), key)
	list, comment := partsOf(t, file)
	apart, together := reassembled(list)
	if len(apart) < 30 || len(together) < 5 {
		t.Fatalf("only %d and %d ways", len(apart), len(together))
	}
	check := func(what string, edited []byte) {
		p, _, err := readSigned(edited)
		var d *diag.Diagnostic
		if p != nil || !errors.As(err, &d) || d.Detail == "" {
			t.Errorf("%s: plan %v, error %v", what, p, err)
		}
	}
	for what, edited := range apart {
		check(what, assembled(t, edited, comment))
		unsigned := withChecksum(assembled(t, edited, strings.Repeat("0", checksumLength)))
		check(what+", checksum made right", unsigned)
		check(what+", checksum made right, with the signature", withChecksum(assembled(t, edited, comment)))
	}
	for what, edited := range together {
		check(what, assembled(t, edited, comment)) // also as it was: the bytes are others
		check(what+", checksum made right, with the signature", withChecksum(assembled(t, edited, comment)))
		if _, by, err := readSigned(withChecksum(assembled(t, edited, strings.Repeat("0", checksumLength)))); by != nil || err != nil && what == "as it was" {
			t.Errorf("%s, checksum made right: %v, %v", what, by, err)
		}
	}
	if _, _, err := readSigned(file); err != nil {
		t.Errorf("the file itself is refused too: %v", err)
	}
}

// What comes after a document is refused as well.
func TestParts_NothingFollowsADocument(t *testing.T) {
	t.Parallel()
	list, _ := partsOf(t, written(t, samplePlan()))
	for i := range 2 {
		longer := slices.Clone(list)
		longer[i].content = append(bytes.Clone(longer[i].content), []byte(` {"format":1}`)...)
		if p, err := read(withChecksum(assembled(t, longer, strings.Repeat("0", checksumLength)))); err == nil {
			t.Errorf("%s with something behind it: %v", longer[i].name, p)
		}
	}
}

// Every bit of an encrypted plan file counts, and every length is refused.
func TestDamagedEncryptedPlanFiles_AreRefused(t *testing.T) {
	t.Parallel()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keys := encryption.New(encryption.Encrypt, func() (encryption.Keys, error) {
		return encryption.Keys{Recipients: []string{id.Recipient().String()}, Identities: []encryption.Identities{{Name: "key", Content: []byte(id.String())}}}, nil
	})
	file, err := keys.Encrypt(encryption.Plan, written(t, samplePlan()))
	if err != nil {
		t.Fatal(err)
	}
	refusesDamage(t, file, func(data []byte) (*plan.Plan, error) {
		content, err := keys.Open(encryption.Plan, "plan.bin", data)
		if err != nil {
			return nil, err
		}
		return read(content)
	})
}
