package client

import (
	"context"
	"os"
	"testing"

	"plantstore"
)

var address = os.Getenv("BASE")

func create(token string, newPlant plantstore.NewPlant) (*plantstore.CreatedPlant, error) {
	configuration := plantstore.NewConfiguration()
	configuration.Servers[0].URL = address
	plants := plantstore.NewAPIClient(configuration).PlantsAPI
	caller := context.WithValue(context.Background(), plantstore.ContextAccessToken, token)
	plant, _, err := plants.CreatePlant(caller).NewPlant(newPlant).Execute()
	return plant, err
}

func Test_creating_the_same_plant_twice_succeeds(t *testing.T) {
	newPlant := *plantstore.NewNewPlant(-9007199254740993, "fern")
	newPlant.SetTag("shade")
	for i := 0; i < 2; i++ {
		plant, err := create(os.Getenv("TOKEN"), newPlant)
		if err != nil || plant.Name != "fern" || plant.GetTag() != "shade" {
			t.Fatal(plant, err)
		}
	}
}

func Test_response_for_a_plant_without_a_tag_has_no_tag(t *testing.T) {
	plant, err := create(os.Getenv("TOKEN"), *plantstore.NewNewPlant(502, "oak"))
	if err != nil || plant.Name != "oak" || plant.HasTag() {
		t.Fatal(plant, err)
	}
}

func Test_errors_contain_their_documented_numbers(t *testing.T) {
	token := os.Getenv("TOKEN")
	if _, err := create(token, *plantstore.NewNewPlant(503, "fern")); err != nil {
		t.Fatal(err)
	}
	requireError(t, 3001, token, *plantstore.NewNewPlant(503, "moss"))
	requireError(t, 2002, token, *plantstore.NewNewPlant(504, "\x00"))
	requireError(t, 4002, "a.b.c", *plantstore.NewNewPlant(504, "moss"))
	requireError(t, 4006, os.Getenv("STRANGER"), *plantstore.NewNewPlant(504, "moss"))
}

func requireError(t *testing.T, number int32, token string, newPlant plantstore.NewPlant) {
	_, err := create(token, newPlant)
	failure, answered := err.(*plantstore.GenericOpenAPIError)
	if !answered {
		t.Fatal(err)
	}
	if model, isError := failure.Model().(plantstore.PlantStoreError); !isError || model.Error != number {
		t.Fatal(string(failure.Body()))
	}
}
