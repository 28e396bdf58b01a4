package certificates

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// self is the issuer of a certificate that is signed by its own key.
const self = "self"

var hostName = regexp.MustCompile(`^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

func isName(name string) bool { return net.ParseIP(name) != nil || hostName.MatchString(normal(name)) }

// normal is a name as certificates have it.
func normal(name string) string {
	if ip := net.ParseIP(name); ip != nil {
		return ip.String()
	}
	return strings.ToLower(name)
}

// namesOf returns the names and addresses that a certificate is for.
func namesOf(c *x509.Certificate) []string {
	names := []string{}
	for _, name := range c.DNSNames {
		names = append(names, normal(name))
	}
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func split(names []string) (dns []string, ips []net.IP) {
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			ips = append(ips, ip)
		} else {
			dns = append(dns, name)
		}
	}
	return dns, ips
}

func sum(raw []byte) []byte {
	s := sha256.Sum256(raw)
	return s[:]
}

// read returns the blocks of a file; nil = there is no file.
func (k Certificate) read(path string) ([]*pem.Block, error) {
	text, err := os.ReadFile(k.machine.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	blocks := []*pem.Block{}
	for rest := text; ; {
		var one *pem.Block
		if one, rest = pem.Decode(rest); one == nil {
			return blocks, nil
		}
		blocks = append(blocks, one)
	}
}

// certificates returns those of a file; none = there is no file. Another file is an error, so that it is not replaced.
func (k Certificate) certificates(path string) (list []*x509.Certificate, err error) {
	blocks, err := k.read(path)
	if blocks == nil || err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if b.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("%s holds a %s, and is not replaced by a certificate", path, b.Type)
		}
		one, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s holds a certificate that cannot be read: %w", path, err)
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s holds no certificate, and is not replaced: remove it first", path)
	}
	return list, nil
}

// key returns the key of a file; nil = there is no file.
func (k Certificate) key(path string) (crypto.Signer, error) {
	blocks, err := k.read(path)
	if blocks == nil || err != nil {
		return nil, err
	}
	for _, b := range blocks {
		var key any
		switch b.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(b.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(b.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(b.Bytes)
		default:
			continue
		}
		if signer, ok := key.(crypto.Signer); ok && err == nil {
			return signer, nil
		}
		return nil, fmt.Errorf("%s holds a key that cannot be read, and is not replaced: remove it first", path) // err may show it
	}
	return nil, fmt.Errorf("%s holds no private key, and is not replaced: remove it first", path)
}

func same(a, b crypto.PublicKey) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
}

func newKey(kind string) (crypto.Signer, []byte, error) {
	var key crypto.Signer
	var err error
	switch kind {
	case "rsa-2048":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "rsa-4096":
		key, err = rsa.GenerateKey(rand.Reader, 4096)
	case "ecdsa-p384":
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	default:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), err
}

func typeOf(key crypto.PublicKey) string {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return "ecdsa-" + strings.ToLower(strings.ReplaceAll(k.Curve.Params().Name, "-", ""))
	case *rsa.PublicKey:
		return fmt.Sprintf("rsa-%d", k.N.BitLen())
	}
	return fmt.Sprintf("%T", key)
}

// skew is how much the clocks of those who check a certificate may be slow.
const skew = time.Hour

func (k Certificate) template(c Config) (*x509.Certificate, error) {
	now := k.now()
	t := &x509.Certificate{Subject: pkix.Name{CommonName: c.CommonName}, NotBefore: now.Add(-skew),
		NotAfter: now.Add(time.Duration(c.Days) * day), BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	t.DNSNames, t.IPAddresses = split(c.names())
	if strings.HasPrefix(c.KeyType, "rsa") {
		t.KeyUsage |= x509.KeyUsageKeyEncipherment
	}
	if c.CA {
		t.IsCA, t.KeyUsage, t.ExtKeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, nil
	}
	return t, nil
}

// signed returns a certificate as PEM, with those above it but the one that is its own authority.
func signed(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer, above []*x509.Certificate) ([]byte, error) {
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	list := [][]byte{raw}
	for _, one := range above {
		if !bytes.Equal(one.RawIssuer, one.RawSubject) {
			list = append(list, one.Raw)
		}
	}
	for _, one := range list {
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: one}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// issuerOf returns who signed a certificate, in the words of the config if it is the one of the config.
func (k Certificate) issuerOf(c *call, one *x509.Certificate) (string, error) {
	if bytes.Equal(one.RawIssuer, one.RawSubject) && one.CheckSignature(one.SignatureAlgorithm, one.RawTBSCertificate,
		one.Signature) == nil {
		return self, nil
	}
	other := "another authority, " + one.Issuer.String()
	if strings.HasPrefix(c.Config.Issuer, "/") {
		list, err := k.certificates(c.Config.Issuer)
		if err == nil && len(list) > 0 && one.CheckSignatureFrom(list[0]) == nil {
			return c.Config.Issuer, nil
		}
		return other, err
	}
	if !c.Config.acme() {
		return other, nil
	}
	// A certificate does not hold the URL of the server: what was recorded counts, and else it is believed to be from it.
	if had := c.LastState; had != nil && had.Fingerprint == fmt.Sprintf("%x", sum(one.Raw)) && had.Issuer != "" {
		return had.Issuer, nil
	}
	return c.Config.Issuer, nil
}
