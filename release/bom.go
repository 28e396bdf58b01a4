package main

import (
	"debug/buildinfo"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// modules returns the modules that are linked into the programs, by name and version, as Go
// recorded them in the programs.
func (r *release) modules() (map[string]bool, error) {
	found := map[string]bool{}
	for _, arch := range architectures {
		var files []string
		for _, name := range onDarwin {
			files = append(files, r.client(arch, name))
		}
		for _, name := range append(names(), "runc") {
			files = append(files, r.binary(arch, name))
		}
		for _, file := range files {
			info, err := buildinfo.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, m := range info.Deps {
				if m.Replace != nil {
					m = m.Replace
				}
				if m.Version != "" && m.Version != "(devel)" {
					found[m.Path+"@"+m.Version] = true
				}
			}
			if m := info.Main; m.Version != "" && m.Version != "(devel)" {
				found[m.Path+"@"+m.Version] = true // runc
			}
		}
	}
	return found, nil
}

// bom writes the list of all that is in the release, in the form of CycloneDX: the modules
// of the programs, and the packages of Debian in the image.
func (r *release) bom(debian []string) error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	var components []cyclonedx.Component
	for _, m := range slices.Sorted(maps.Keys(modules)) {
		name, version, _ := strings.Cut(m, "@")
		purl := "pkg:golang/" + name + "@" + version
		components = append(components, cyclonedx.Component{BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: name,
			Version:    version,
			PackageURL: purl})
	}
	for _, p := range debian {
		fields := strings.Fields(p)
		if len(fields) != 3 {
			return errors.New("not a package: " + p)
		}
		purl := "pkg:deb/debian/" + fields[0] + "@" + strings.ReplaceAll(fields[1], "+", "%2B") + "?arch=" + fields[2]
		components = append(components, cyclonedx.Component{BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary,
			Name: fields[0], Version: fields[1],
			PackageURL: purl})
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	components = slices.CompactFunc(components, func(a, b cyclonedx.Component) bool { return a.BOMRef == b.BOMRef })
	list := cyclonedx.NewBOM()
	list.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &cyclonedx.Component{
		BOMRef: "deployster", Type: cyclonedx.ComponentTypeApplication, Name: "deployster", Version: r.version}}
	list.Components = &components
	out, err := os.Create(filepath.Join(r.out, "deployster_"+r.version+"_sbom.cdx.json"))
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON)
	return errors.Join(encoder.SetPretty(true).Encode(list), out.Close())
}
