module com.example.garden {
  requires org.plantstore.domain;
}
