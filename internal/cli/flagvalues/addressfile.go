package flagvalues

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
)

// maxAddressFile is the size limit of a file with addresses, in bytes.
const maxAddressFile = 16 << 20

// AddressFile collects the names of files with addresses.
type AddressFile struct{ Paths []string }

func (f *AddressFile) Set(path string) error {
	f.Paths = append(f.Paths, path)
	return nil
}

func (f *AddressFile) String() string { return "" }

// Read returns the addresses in the files, as plans print them. flag is the name of the flag, for
// errors; a file without an address is one if some is required: without it nothing limits the plan.
func (f *AddressFile) Read(flag string, required bool) ([]string, error) {
	var all []string
	for _, path := range f.Paths {
		list, err := readAddresses(flag, path)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 && required {
			return nil, diag.Errorf("No address", "%s=%s has no address, so it would limit nothing. Write one in each line, or leave the "+
				"flag out.", flag, diag.Visible(path))
		}
		all = append(all, list...)
	}
	return all, nil
}

func readAddresses(flag, path string) ([]string, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxAddressFile {
		err = fmt.Errorf("it is larger than %d bytes", maxAddressFile)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, diag.Errorf("Cannot read the file", "%s=%s: %v.", flag, diag.Visible(path), err)
	}
	var list []string
	for i, line := range strings.Split(string(bytes.TrimPrefix(text, []byte("\ufeff"))), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		address, err := config.ParseAddress(line)
		if err != nil {
			d := diag.From("Not an address", err)[0]
			return nil, diag.Errorf("Not an address", "%s:%d, which %s names: %s A line has one address, and # begins a "+
				"comment.", diag.Visible(path), i+1, flag, strings.TrimSpace(d.Detail))
		}
		list = append(list, address)
	}
	return list, nil
}
