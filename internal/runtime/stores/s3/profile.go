package s3

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-ini/ini"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// profile is a section of AWS's files ~/.aws/credentials and ~/.aws/config. Most users have
// their region and their credential_process in the second one.
type profile struct {
	name  string
	files []*credentials.FileAWSCredentials
	from  *credentials.FileAWSCredentials // the file that had the credentials; nil = not read yet
}

// newProfile returns the profile with a name; "" = the one of AWS_PROFILE, or the default one.
func newProfile(name string) *profile {
	p := &profile{name: cmp.Or(name, os.Getenv("AWS_PROFILE"), "default")}
	home, err := os.UserHomeDir()
	if err != nil {
		return p
	}
	config := cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config"))
	p.files = []*credentials.FileAWSCredentials{
		{Filename: cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials")), Profile: p.name},
		{Filename: config, Profile: "profile " + p.name},
		{Filename: config, Profile: p.name}, // the default one
	}
	return p
}

// Retrieve reads the credentials from the first file that has some.
func (p *profile) Retrieve() (credentials.Value, error) {
	var errs []error
	for _, file := range p.files {
		value, err := file.Retrieve()
		if err == nil && value.AccessKeyID != "" {
			p.from = file
			return value, nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file.Filename, err))
		}
	}
	return credentials.Value{}, fmt.Errorf("the profile %s of AWS has no credentials: %w", p.name, errors.Join(errs...))
}

// RetrieveWithCredContext is the same as Retrieve: files need no connection.
func (p *profile) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return p.Retrieve()
}

// IsExpired reports whether the credentials must be read again.
func (p *profile) IsExpired() bool { return p.from == nil || p.from.IsExpired() }

// region returns the region of the profile; "" = it has none.
func (p *profile) region() string {
	for _, file := range p.files {
		all, err := ini.Load(file.Filename)
		if err != nil {
			continue // the credentials may be in another file; if not, Retrieve reports this
		}
		if section, err := all.GetSection(file.Profile); err == nil && section.Key("region").String() != "" {
			return section.Key("region").String()
		}
	}
	return ""
}
