package planfile

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/protocol"
)

// A plan file is a zip: plan.json, sources.json (which source file is which),
// and the manifests and the files that they read under sources/. The archive's
// comment ends with 64 hex digits that are the SHA-256 of all bytes before them,
// so that no byte of the file can differ from what was written. Signatures may
// precede them.

const (
	planName       = "plan.json"
	sourcesName    = "sources.json"
	checksumLength = 2 * sha256.Size
	maxInflated    = 256 << 20 // bytes in all entries together
)

// sourceIndex is sources.json.
type sourceIndex struct {
	Workspace string                        `json:"workspace"`
	Dir       string                        `json:"dir"`
	Manifests []sourceEntry                 `json:"manifests"`
	Modules   []sourceDir                   `json:"modules,omitempty"`
	Reads     []sourceEntry                 `json:"reads"`
	Lists     map[string][]string           `json:"lists,omitempty"`
	Home      string                        `json:"home,omitempty"`
	Hosts     map[string]protocol.HostFacts `json:"hosts,omitempty"`
}

// sourceDir is a module.
type sourceDir struct {
	Dir   string        `json:"dir"`
	Files []sourceEntry `json:"files"`
}

type sourceEntry struct {
	Path  string `json:"path"`
	Entry string `json:"entry"` // its name in the archive
}

// Write writes the plan file. The same plan gives the same bytes.
func Write(w io.Writer, p *plan.Plan) error { return WriteSigned(w, p, nil) }

// WriteSigned writes the plan file, with a signature if there is a key.
func WriteSigned(w io.Writer, p *plan.Plan, key ed25519.PrivateKey) error {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	index, files := indexSources(p.Sources)
	listing, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	add := func(name string, write func(io.Writer) error) {
		if err == nil {
			var entry io.Writer
			entry, err = z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate,
				Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
			if err == nil {
				err = write(entry)
			}
		}
	}
	bytesOf := func(data []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(data); return err }
	}
	add(planName, func(w io.Writer) error { return encodeTo(w, p) })
	add(sourcesName, bytesOf(listing))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(name, bytesOf(files[name]))
	}
	if err != nil {
		return err
	}
	room := checksumLength
	if key != nil {
		room += signatureLength
	}
	if err := z.SetComment(strings.Repeat("0", room)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	_, err = w.Write(fillChecksum(archive.Bytes(), key, room))
	return err
}

// fillChecksum fills the room at the end of an archive: with a signature, if there is a
// key, and with the hash of all bytes before the hash.
func fillChecksum(file []byte, key ed25519.PrivateKey, room int) []byte {
	end := len(file) - checksumLength
	if key != nil {
		sum := sha256.Sum256(file[:len(file)-room])
		copy(file[len(file)-room:end], signatureText(key, sum[:]))
	}
	sum := sha256.Sum256(file[:end])
	copy(file[end:], hex.EncodeToString(sum[:]))
	return file
}

// indexSources names the archive's entry for each source file.
func indexSources(s config.Sources) (sourceIndex, map[string][]byte) {
	index, files := sourceIndex{Workspace: s.Workspace, Dir: s.Dir, Lists: s.Lists, Home: s.Home, Hosts: s.Hosts}, map[string][]byte{}
	for i, f := range s.Manifests {
		name := "sources/manifest-" + strconv.Itoa(i)
		index.Manifests = append(index.Manifests, sourceEntry{f.Path, name})
		files[name] = f.Bytes
	}
	for i, dir := range slices.Sorted(maps.Keys(s.Modules)) {
		entries := make([]sourceEntry, 0, len(s.Modules[dir]))
		for j, f := range s.Modules[dir] {
			name := fmt.Sprintf("sources/module-%d-%d", i, j)
			entries = append(entries, sourceEntry{f.Path, name})
			files[name] = f.Bytes
		}
		index.Modules = append(index.Modules, sourceDir{dir, entries})
	}
	for i, path := range slices.Sorted(maps.Keys(s.Reads)) {
		name := "sources/read-" + strconv.Itoa(i)
		index.Reads = append(index.Reads, sourceEntry{path, name})
		files[name] = s.Reads[path]
	}
	return index, files
}

// Read reads a plan file, and refuses one that is not to the byte what was
// written, or that has another format version.
func Read(r io.ReaderAt, size int64) (*plan.Plan, error) {
	p, _, err := ReadSigned(r, size)
	return p, err
}

// ReadSigned reads a plan file, and returns who signed it.
func ReadSigned(r io.ReaderAt, size int64) (*plan.Plan, Signatures, error) {
	if err := verifyChecksum(r, size); err != nil {
		return nil, nil, err
	}
	signatures, err := readSignatures(r, size)
	if err != nil {
		return nil, nil, err
	}
	p, err := readArchive(r, size)
	if err == nil && len(signatures) > 0 && p.Lineage == "" && p.Begins == nil {
		return nil, nil, damaged("it is signed, was made without a state, and does not name the state that it may begin")
	}
	return p, signatures, err
}

// readArchive reads a plan file whose checksum was verified.
func readArchive(r io.ReaderAt, size int64) (*plan.Plan, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, damaged("it is not a zip archive: %s", err)
	}
	files, err := inflate(z)
	if err != nil {
		return nil, err
	}
	doc := open(files[planName])
	format, err := doc.format()
	if err != nil {
		return nil, damaged("its plan.json cannot be read: %s", err)
	}
	if format > plan.Format {
		return nil, diag.Errorf("The plan file is of a newer deployster",
			"It has format %d, and this deployster reads format %d. Use the version that made it, or make the plan again.", format,
			plan.Format)
	}
	if format != plan.Format {
		return nil, diag.Errorf("Plan file of another version",
			"It has format %d; this version of deployster reads format %d. Apply it with the version that made it, or make the plan again.",
			format,
			plan.Format)
	}
	p, err := doc.plan()
	if err != nil {
		return nil, damaged("its plan.json cannot be read: %s", err)
	}
	if p.ID != plan.Fingerprint(p) {
		return nil, damaged("its content does not match its id")
	}
	if why := validate(p); why != "" {
		return nil, damaged("%s", why)
	}
	if p.Sources, err = readSources(files); err != nil {
		return nil, err
	}
	p.Sources.Instances, p.Sources.Artifacts, p.Sources.Remote = p.Instances, artifacts.Values(p.Artifacts), p.Remote
	return p, nil
}

// verifyChecksum compares the file with the hash at its end.
func verifyChecksum(r io.ReaderAt, size int64) error {
	if size < checksumLength+22 { // an empty zip archive is 22 bytes
		return damaged("it is only %d bytes long", size)
	}
	hash, want := sha256.New(), make([]byte, checksumLength)
	if _, err := io.Copy(hash, io.NewSectionReader(r, 0, size-checksumLength)); err != nil {
		return err
	}
	if _, err := r.ReadAt(want, size-checksumLength); err != nil && err != io.EOF {
		return err
	}
	if string(want) != hex.EncodeToString(hash.Sum(nil)) {
		return damaged("it is truncated, was edited, or is not a plan file")
	}
	return nil
}

// inflate reads every entry, within a limit.
func inflate(z *zip.Reader) (map[string][]byte, error) {
	files, left, room := map[string][]byte{}, int64(maxInflated), uint64(maxInflated)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			return nil, damaged("%s: %s", f.Name, err)
		}
		var content bytes.Buffer
		if claimed := f.UncompressedSize64; claimed <= room { // the size may be false, so all claimed sizes share one limit
			room -= claimed
			content.Grow(int(claimed) + bytes.MinRead)
		}
		_, err = content.ReadFrom(io.LimitReader(in, left+1))
		data := content.Bytes()
		_ = in.Close() // it was only read
		if err != nil {
			return nil, damaged("%s: %s", f.Name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return nil, damaged("it holds more than %d MiB", maxInflated>>20)
		}
		if _, twice := files[f.Name]; twice {
			return nil, damaged("%q is in it twice", f.Name)
		}
		files[f.Name] = data
	}
	return files, nil
}

// complete returns an error if an archive lacks a named file, or has one that
// sources.json does not name: then somebody has assembled it again.
func (index sourceIndex) complete(files map[string][]byte) error {
	named := map[string]bool{planName: true, sourcesName: true}
	entries := slices.Concat(index.Manifests, index.Reads)
	for _, d := range index.Modules {
		entries = append(entries, d.Files...)
	}
	for _, e := range entries {
		if _, there := files[e.Entry]; !there || named[e.Entry] {
			return damaged("%q, which its sources.json names for %s, is missing or is named twice", e.Entry, e.Path)
		}
		named[e.Entry] = true
	}
	for name := range files {
		if !named[name] {
			return damaged("it holds %q, which belongs to nothing in it", name)
		}
	}
	return nil
}

// readSources returns the manifests in a form that can be evaluated again without
// the files that they came from.
func readSources(files map[string][]byte) (config.Sources, error) {
	var index sourceIndex
	if err := jsondoc.DecodeStrict(files[sourcesName], &index); err != nil {
		return config.Sources{}, damaged("its sources.json cannot be read: %s", err)
	}
	if err := index.complete(files); err != nil {
		return config.Sources{}, err
	}
	s := config.Sources{Workspace: index.Workspace, Dir: index.Dir, Lists: index.Lists, Home: index.Home, Hosts: index.Hosts,
		Reads: map[string][]byte{}, Modules: map[string][]config.File{}, Replay: true}
	for _, e := range index.Manifests {
		s.Manifests = append(s.Manifests, config.File{Path: e.Path, Bytes: files[e.Entry]})
	}
	for _, d := range index.Modules {
		for _, e := range d.Files {
			s.Modules[d.Dir] = append(s.Modules[d.Dir], config.File{Path: e.Path, Bytes: files[e.Entry]})
		}
	}
	for _, e := range index.Reads {
		s.Reads[e.Path] = files[e.Entry]
	}
	return s, nil
}

func damaged(why string, args ...any) error {
	return diag.Errorf("Not a valid plan file", "It cannot be used: %s. Make the plan again.", fmt.Sprintf(why, args...))
}
