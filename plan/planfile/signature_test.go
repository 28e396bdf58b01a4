package planfile

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/signature"
	"deployster/plan"
	"deployster/plan/begins"
)

// testKey is a key that is the same in every run.
func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func signed(t *testing.T, p *plan.Plan, key ed25519.PrivateKey) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSigned(&out, p, key); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readSigned(file []byte) (*plan.Plan, Signatures, error) {
	return ReadSigned(bytes.NewReader(file), int64(len(file)))
}

// withChecksum puts a right checksum on a file that was edited, as anybody can.
func withChecksum(file []byte) []byte {
	body := bytes.Clone(file[:len(file)-checksumLength])
	sum := sha256.Sum256(body)
	return append(body, hex.EncodeToString(sum[:])...)
}

func TestSignedPlanFile_ReportsByWhom(t *testing.T) {
	key := testKey(1)
	file := signed(t, samplePlan(), key)
	p, by, err := readSigned(file)
	if err != nil || len(by) != 1 || !by[0].Key.Equal(key.Public()) || p.ID != samplePlan().ID {
		t.Fatalf("plan %v, signature %v, error %v", p, by, err)
	}
	if want := signature.ID(by[0].Key); by[0].By() != want || want == "" {
		t.Errorf("got the id %q, want %q", by[0].By(), want)
	}
	if !bytes.Equal(file, signed(t, samplePlan(), key)) {
		t.Error("the same plan and key gave two files")
	}
	if _, by, err := readSigned(written(t, samplePlan())); by != nil || err != nil {
		t.Errorf("an unsigned file: %v, %v", by, err)
	}
	// Other tools read it as a zip archive.
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil || z.File[0].Name != planName {
		t.Errorf("it is no zip archive: %v", err)
	}
}

// Whoever edits any bit of a signed file and makes its checksum right again is
// refused, or at the least has a file that nobody signed, or somebody else:
// never one of this key.
func TestEditedSignedPlanFiles_AreRefused(t *testing.T) {
	key := testKey(1)
	file := signed(t, samplePlan(), key)
	refused := func(what string, edited []byte) {
		p, by, err := readSigned(edited)
		if err == nil && len(by) > 0 && by[0].Key.Equal(key.Public()) {
			t.Fatalf("%s: it is taken for one that was signed: %v", what, p)
		}
	}
	end := len(file) - checksumLength
	for i := range file[:end] {
		for bit := range 8 {
			if bit != i%8 && i < end-signatureLength {
				continue // before the signature it is a hash that must fit: one bit of each byte shows it
			}
			file[i] ^= 1 << bit
			refused("bit flipped", withChecksum(file))
			file[i] ^= 1 << bit
		}
		if i%16 == 0 {
			refused("byte cut out", withChecksum(slices.Concat(file[:i], file[i+1:])))
			refused("cut off", withChecksum(file[:i+checksumLength]))
		}
	}
	if _, by, err := readSigned(withChecksum(file)); by == nil || err != nil {
		t.Errorf("the file that was not edited is refused too: %v, %v", by, err)
	}
}

// further returns a signed file with one more signature.
func further(t *testing.T, file []byte, key ed25519.PrivateKey) []byte {
	t.Helper()
	out, _, err := Sign(file, key)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A further signature leaves those before it valid, and what is signed is the same whoever was first.
func TestSign_KeepsTheSignaturesBefore(t *testing.T) {
	one, two, three := testKey(1), testKey(2), testKey(3)
	file := further(t, further(t, signed(t, samplePlan(), one), two), three)
	p, by, err := readSigned(file)
	if err != nil || p.ID != samplePlan().ID || len(by) != 3 || !by[0].Key.Equal(one.Public()) || !by[2].Key.Equal(three.Public()) {
		t.Fatalf("%v, %v", by.IDs(), err)
	}
	later := further(t, further(t, further(t, written(t, samplePlan()), one), two), three)
	if !bytes.Equal(file, later) {
		t.Error("a plan that is signed after it was saved is another file")
	}
	if _, err := zip.NewReader(bytes.NewReader(file), int64(len(file))); err != nil {
		t.Errorf("it is no zip archive: %v", err)
	}
	if _, _, err := Sign(file, two); err == nil || !strings.Contains(err.Error(), "has signed it already") {
		t.Errorf("twice the same: %v", err)
	}
	bare := samplePlan()
	bare.Lineage, bare.Begins = "", nil
	bare.ID = plan.Fingerprint(bare)
	if _, _, err := Sign(written(t, bare), one); err == nil || !strings.Contains(err.Error(), "does not name the state") {
		t.Errorf("a plan that names no state: %v", err)
	}
}

// No edit of a file with two signatures leaves it one that both keys have signed.
func TestSign_TwoSignaturesAreEdited(t *testing.T) {
	one, two := testKey(1), testKey(2)
	file := further(t, signed(t, samplePlan(), one), two)
	end := len(file) - checksumLength
	both := func(edited []byte) bool {
		_, by, err := readSigned(withChecksum(edited))
		return err == nil && by.Has(one.Public().(ed25519.PublicKey)) && by.Has(two.Public().(ed25519.PublicKey))
	}
	for i := range file[:end] {
		if i < end-2*signatureLength-64 && i%7 != 0 {
			continue // a hash covers it: some bytes show that
		}
		file[i] ^= 1 << (i % 8)
		if both(file) {
			t.Fatalf("byte %d of %d does not count", i, end)
		}
		file[i] ^= 1 << (i % 8)
	}
	if !both(file) {
		t.Error("the file that was not edited is refused too")
	}
	first, last := file[end-2*signatureLength:end-signatureLength], file[end-signatureLength:end]
	doubled := slices.Concat(file[:end-2*signatureLength-2], commentLength(3), first, first, last, file[end:])
	if _, _, err := readSigned(withChecksum(doubled)); err == nil || !strings.Contains(err.Error(), "two signatures of the key") {
		t.Errorf("the same line twice: %v", err)
	}
	short := slices.Concat(file[:end-2*signatureLength], first, file[end:])
	if _, _, err := readSigned(withChecksum(short)); err == nil {
		t.Error("a signature is cut out, and the length of the comment is not that")
	}
}

// The signature of one file does not fit another.
func TestSignatureOfAnotherPlan_IsRefused(t *testing.T) {
	other := samplePlan()
	other.Serial++
	other.ID = plan.Fingerprint(other)
	one, two := signed(t, samplePlan(), testKey(1)), signed(t, other, testKey(1))
	end := func(file []byte) int { return len(file) - checksumLength }
	swapped := bytes.Clone(two)
	copy(swapped[end(two)-signatureLength:end(two)], one[end(one)-signatureLength:end(one)])
	if _, _, err := readSigned(withChecksum(swapped)); err == nil || !strings.Contains(err.Error(), "edited after it was signed") {
		t.Errorf("got %v", err)
	}
	// Nor is a short key with a long signature taken for anything.
	short := bytes.Clone(one)
	copy(short[end(one)-signatureLength:], signatureLine(make([]byte, 30), make([]byte, 69)))
	if _, _, err := readSigned(withChecksum(short)); err == nil {
		t.Error("a short key is taken for one")
	}
	// Nor does the same signature under the name of another key.
	renamed, stranger := bytes.Clone(one), signed(t, samplePlan(), testKey(2))
	at := end(one) - signatureLength + len(signaturePrefix)
	copy(renamed[at:at+2*ed25519.PublicKeySize], stranger[at:])
	if _, _, err := readSigned(withChecksum(renamed)); err == nil {
		t.Error("a signature is taken for one of another key")
	}
}

// A signed plan that was made without a state names the one that it may begin. Its id, and so its signature, covers that.
func TestSignedPlanFile_NamesTheStateThatItBegins(t *testing.T) {
	with := func(b *begins.State) *plan.Plan {
		p := samplePlan()
		p.Lineage, p.Begins = "", b
		p.ID = plan.Fingerprint(p)
		return p
	}
	if _, _, err := readSigned(signed(t, with(nil), testKey(1))); err == nil || !strings.Contains(err.Error(), "does not name the state") {
		t.Errorf("it names none: %v", err)
	}
	if _, _, err := readSigned(written(t, with(nil))); err != nil {
		t.Errorf("it is not signed: %v", err)
	}
	at := &begins.State{Machine: "m", Path: "/w/deployster.state.json"}
	p, _, err := readSigned(signed(t, with(at), testKey(1)))
	if err != nil || *p.Begins != *at {
		t.Errorf("got %+v, %v", p, err)
	}
	if with(at).ID == with(&begins.State{Any: true}).ID {
		t.Error("the id does not cover the state")
	}
}

func digest(t *testing.T, p *plan.Plan) string {
	t.Helper()
	d, err := Digest(p)
	if err != nil || !strings.HasPrefix(d, "sha256:") || len(d) != 71 {
		t.Fatalf("digest %q, %v", d, err)
	}
	return d
}

// What does the same has the same digest: also when it was made at another
// moment, after an unrelated change to the state, or with the keys of its values
// in another order; and when it went through a file.
func TestDigest_IsThatOfTheMeaning(t *testing.T) {
	untimed := func() *plan.Plan { // a rule that reads the moment makes it a part of the meaning
		p := samplePlan()
		p.Policies[0].Timed = false
		return p
	}
	want := digest(t, untimed())
	for what, change := range map[string]func(*plan.Plan){
		"moment": func(p *plan.Plan) { p.Created = p.Created.Add(time.Hour) },
		"serial": func(p *plan.Plan) { p.Serial++ },
		"id":     func(p *plan.Plan) { p.ID = "" },
		"begins": func(p *plan.Plan) { p.Begins = &begins.State{Any: true} },
		"order": func(p *plan.Plan) {
			p.Resources["conf"].Config = json.RawMessage(`{"n":99999999999999999999.5, "a":"<&>"}`)
		},
	} {
		p := untimed()
		change(p)
		if got := digest(t, p); got != want {
			t.Errorf("%s: the digest is another", what)
		}
	}
	back, _, err := readSigned(signed(t, samplePlan(), testKey(1)))
	if err != nil || digest(t, back) != digest(t, samplePlan()) {
		t.Errorf("a file changes the digest: %v", err)
	}
}

// What does something else has another digest, each another.
func TestDigest_CoversAllThatIsDone(t *testing.T) {
	seen := map[string]string{digest(t, samplePlan()): "the sample"}
	for what, change := range map[string]func(*plan.Plan){
		"image": func(p *plan.Plan) { p.Images["docker.io/acme/file:1"] = "sha256:2" },
		"config": func(p *plan.Plan) {
			p.Resources["conf"].Config = json.RawMessage(`{"a":"<&>","n":99999999999999999999.6}`)
		},
		"args":      func(p *plan.Plan) { p.Resources["conf"].Answer().Actions[0].Args[0] = "x" },
		"mount":     func(p *plan.Plan) { p.Resources["conf"].Mounts[0].Writable = false },
		"state":     func(p *plan.Plan) { p.Entries["svc"] = "sha256:3" },
		"lineage":   func(p *plan.Plan) { p.Lineage = "m" },
		"workspace": func(p *plan.Plan) { p.Workspace = "/v" },
		"variable":  func(p *plan.Plan) { p.Variables["v"] = json.RawMessage(`{"value":2,"type":"number"}`) },
		"manifest":  func(p *plan.Plan) { p.Sources.Manifests[0].Bytes = []byte("resource {} \n") },
		"name":      func(p *plan.Plan) { p.Sources.Manifests[0].Path = "other.hcl" },
		"read":      func(p *plan.Plan) { p.Sources.Reads["a.txt"] = []byte("texts") },
		"moment":    func(p *plan.Plan) { p.Created = p.Created.Add(time.Second) }, // a rule of its policy reads it
		"version":   func(p *plan.Plan) { p.Deployster = "0.2.0" },
		"time":      func(p *plan.Plan) { p.Sources.Manifests[0].Bytes = []byte("a = plantimestamp()") },
		"time passes": func(p *plan.Plan) {
			p.Sources.Manifests[0].Bytes, p.Created = []byte("a = plantimestamp()"), p.Created.Add(time.Second)
		},
	} {
		p := samplePlan()
		change(p)
		got := digest(t, p)
		if before, ok := seen[got]; ok {
			t.Errorf("%s: the digest is that of %s", what, before)
		}
		seen[got] = what
	}
}
