# error 4:11 no data sources

output "id" {
  value = data.acme_disk.d.id
}
