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

// profile is a section of the files of AWS: of ~/.aws/credentials, and of ~/.aws/config, where
// most have their region and their credential_process.
type profile struct {
	name  string
	files []*credentials.FileAWSCredentials
	from  *credentials.FileAWSCredentials // that had them; nil = nobody has asked yet
}

// newProfile returns the profile of a name; "" = that of AWS_PROFILE, or the default one.
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

// RetrieveWithCredContext is Retrieve: files need no connection.
func (p *profile) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return p.Retrieve()
}

// IsExpired reports whether the credentials are to be read again.
func (p *profile) IsExpired() bool { return p.from == nil || p.from.IsExpired() }

// region is the one that a profile names; "" = none.
func (p *profile) region() string {
	for _, file := range p.files {
		all, err := ini.Load(file.Filename)
		if err != nil {
			continue // the credentials may be elsewhere; if not, they say so
		}
		if section, err := all.GetSection(file.Profile); err == nil && section.Key("region").String() != "" {
			return section.Key("region").String()
		}
	}
	return ""
}
