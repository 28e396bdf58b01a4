# error 3:1 no data sources

data "acme_disk" "d" {
  name = "x"
}
